// What the libraries compute, in plain C++: slow, but short enough to be verified by reading.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

using Floats = std::vector<float>;

// Numbers between -1 and 1 without an obvious pattern.
inline Floats numbers(std::size_t count) {
  Floats made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<float>(i * 2654435761u >> 8 & 0xffff) / 32768 - 1;
  return made;
}

inline double largest_difference(const Floats& a, const Floats& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(double{a[i]} - b[i]));
  return largest;
}

// c[row][column] of a, m x k, times b, k x n, all row by row.
inline Floats product(const Floats& a, const Floats& b, int m, int n, int k) {
  Floats c(m * n);
  for (int i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int j = 0; j < k; ++j) sum += double{a[i / n * k + j]} * b[j * n + i % n];
    c[i] = static_cast<float>(sum);
  }
  return c;
}

// The discrete Fourier transform by its definition. Real and imaginary parts alternate.
inline Floats fourier(const Floats& x) {
  const int count = static_cast<int>(x.size() / 2);
  const double turn = -2 * std::acos(-1.0) / count;
  Floats y(x.size());
  for (int frequency = 0; frequency < count; ++frequency) {
    std::complex<double> sum;
    for (int t = 0; t < count; ++t) {
      sum += std::polar(1.0, turn * (frequency * t % count)) * std::complex<double>(x[2 * t], x[2 * t + 1]);
    }
    y[2 * frequency] = static_cast<float>(sum.real());
    y[2 * frequency + 1] = static_cast<float>(sum.imag());
  }
  return y;
}

// y = max(0, convolution of x with w, plus b). y is [image][filter][row][column]. Each filter has 3 x 3 numbers for
// each channel, and the images have a border of one zero.
inline Floats convolution_bias_relu(const Floats& x, const Floats& w, const Floats& b, int channels, int filters,
                                    int side) {
  const int area = side * side, images = static_cast<int>(x.size()) / channels / area;
  Floats y(images * filters * area);
  for (int i = 0; i < images * filters * area; ++i) {
    const int column = i % side, row = i / side % side, filter = i / area % filters, image = i / area / filters;
    double sum = b[filter];
    for (int tap = 0; tap < channels * 9; ++tap) {
      const int channel = tap / 9, v = row + tap / 3 % 3 - 1, u = column + tap % 3 - 1;
      if (v < 0 || v >= side || u < 0 || u >= side) continue;
      sum += double{x[((image * channels + channel) * side + v) * side + u]} * w[filter * channels * 9 + tap];
    }
    y[i] = static_cast<float>(std::max(0.0, sum));
  }
  return y;
}

// Numbers that are stored channel by channel, [outer][channel][inner], with the channels last: [outer][inner][channel].
inline Floats channels_last(const Floats& from, int channels, int inner) {
  Floats to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t at = i % inner, channel = i / inner % channels, outer = i / inner / channels;
    to[(outer * inner + at) * channels + channel] = from[i];
  }
  return to;
}
