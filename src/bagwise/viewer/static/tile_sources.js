// Tile sources of OpenSeadragon.

const OVERVIEW_LEVEL = 8; // the whole picture in one tile

export function pictureSource(picture, tileUrl) {
  return {
    width: picture.width,
    height: picture.height,
    tileSize: picture.tile_side,
    minLevel: Math.min(OVERVIEW_LEVEL, picture.max_level),
    maxLevel: picture.max_level,
    getTileUrl: tileUrl,
  };
}

// Return an empty background that is large enough for the tiles, for bags without a picture.
export function blankSource([, , right, bottom]) {
  const [width, height] = [Math.ceil(right), Math.ceil(bottom)];
  const getTileUrl = () => "/static/blank.png";
  return { width, height, tileSize: Math.max(width, height), minLevel: 0, maxLevel: 0, getTileUrl };
}
