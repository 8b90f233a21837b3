// Rasterization: in which order the blocks of a grid compute the tiles of a matrix.
#pragma once

// A position in units of tiles. (Of a cluster's tiles, if there are clusters.)
struct Tile {
  int row, column;
};

// The place of tile number `tile`. Tiles are numbered down a band of rows, column by column, and then in the next band.
__device__ inline Tile place(int tile, int rows, int columns, int band) {
  const int first = tile / (band * columns) * band, height = min(band, rows - first), inside = tile - first * columns;
  return {first + inside % height, inside / height};
}
