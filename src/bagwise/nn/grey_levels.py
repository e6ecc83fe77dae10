"""Grey values of colour images, and the threshold above which a pixel is white background."""

import numpy as np

LUMA = np.array([0.299, 0.587, 0.114])  # weights of red, green and blue (ITU-R BT.601), as in Pillow
WHITE = 215  # pixels with a larger grey value are background
