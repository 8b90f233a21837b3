// The op and the matrix product on the CPU: plain loops in one thread. Matrices are stored row by row.
#pragma once

namespace loops {

void forward(const float* x, const float* b, float* y, int rows, int columns);
void backward(const float* g, const float* x, float* dx, float* db, int rows, int columns);
void multiply(const float* a, const float* b, float* c, int m, int n, int k);  // c = a b, m × k times k × n

}  // namespace loops
