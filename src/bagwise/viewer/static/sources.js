// What OpenSeadragon reads its tiles from.

const SMALLEST_LEVEL = 8; // the whole picture in one tile

export function pictureSource(picture, address) {
  return {
    width: picture.width,
    height: picture.height,
    tileSize: picture.tile,
    minLevel: Math.min(SMALLEST_LEVEL, picture.deepest),
    maxLevel: picture.deepest,
    getTileUrl: address,
  };
}

// Without a picture the tiles lie on an empty ground as large as they need.
export function blankSource([, , right, bottom]) {
  const [width, height] = [Math.ceil(right), Math.ceil(bottom)];
  const getTileUrl = () => "/static/blank.png";
  return { width, height, tileSize: Math.max(width, height), minLevel: 0, maxLevel: 0, getTileUrl };
}
