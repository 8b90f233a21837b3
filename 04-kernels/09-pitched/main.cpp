// Stores a picture with padded rows, copies rectangles of it, ignores the padding once, and measures what padding
// gains. With --controls, it measures copies of rectangles.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <cstring>
#include <string>
#include <vector>

constexpr int kWidth = 26, kHeight = 5;    // of the picture, in bytes and rows
constexpr int kWide = 4004, kStrip = 128;  // bytes in a row of the image that is measured, and in a strip of it
constexpr int kMostRows = 1 << 18, kRowsInBlock = 8;  // one warp for each row
constexpr double kLongEnough = 1e-3;                  // seconds

struct Rectangle {
  int x, y, width, height;
};

// Device memory for rows, with the pitch that the driver has chosen.
struct Image {
  cu::Memory memory;
  std::size_t pitch = 0;

  Image(std::size_t width, std::size_t height) {
    CU_THROW(cuMemAllocPitch(&memory.address, &pitch, width, height, 16));
  }
};

// Copies a rectangle of an image. On the host, its rows follow each other without padding.
std::string copy_to_host(CUdeviceptr image, std::size_t pitch, const Rectangle& from) {
  std::string bytes(static_cast<std::size_t>(from.width) * from.height, ' ');
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = image;
  copy.srcPitch = pitch;
  copy.srcXInBytes = from.x;
  copy.srcY = from.y;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = bytes.data();
  copy.dstPitch = from.width;
  copy.WidthInBytes = from.width;
  copy.Height = from.height;
  CU_CHECK(cuMemcpy2D(&copy));
  return bytes;
}

void copy_to_device(CUdeviceptr image, std::size_t pitch, const std::string& picture) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = picture.data();
  copy.srcPitch = kWidth;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = image;
  copy.dstPitch = pitch;
  copy.WidthInBytes = kWidth;
  copy.Height = kHeight;
  CU_CHECK(cuMemcpy2D(&copy));
}

void show(const char* title, const std::string& bytes, int width) {
  std::printf("\n%s\n", title);
  for (std::size_t row = 0; row < bytes.size(); row += width) std::printf("  %s\n", bytes.substr(row, width).c_str());
}

// Fills, copies and prints the picture. Returns whether the copies are correct.
bool copy_rectangles() {
  const Image image(kWidth, kHeight);
  std::string picture;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) picture += static_cast<char>('a' + x);
  }
  CU_CHECK(cuMemsetD8(image.memory.address, '~', image.pitch * kHeight));  // makes the padding visible
  copy_to_device(image.memory.address, image.pitch, picture);
  CU_CHECK(
      cuMemsetD2D8(image.memory.address + 1 * image.pitch + 4, image.pitch, '#', 10, 3));  // from column 4 of row 1

  const std::string all = copy_to_host(image.memory.address, image.pitch, {0, 0, kWidth, kHeight});
  show("the picture, copied back", all, kWidth);
  const std::string part = copy_to_host(image.memory.address, image.pitch, {2, 3, 12, 2});
  show("12 columns and 2 rows of it, from column 2 of row 3", part, 12);
  std::string flat(kWidth * kHeight, ' ');
  CU_CHECK(cuMemcpyDtoH(flat.data(), image.memory.address, flat.size()));
  show("copied as if there were no padding", flat, kWidth);
  return part == "cd##########cdefghijklmn" && all.substr(0, kWidth) == picture.substr(0, kWidth);
}

// Adds up the first `width` bytes of each row of an image of threes. Returns GB/s, or 0 if a sum is wrong.
double row_sum_speed(CUfunction kernel, CUdeviceptr image, std::size_t pitch, int width, int rows) {
  CU_CHECK(cuMemsetD8(image, '~', pitch * rows));
  CU_CHECK(cuMemsetD2D8(image, pitch, 3, kWide, rows));
  const cu::Memory sums(rows * sizeof(unsigned));
  const double seconds = cu::median_device_seconds([&] {
    CUdeviceptr to = sums.address;
    void* arguments[] = {&image, &pitch, &width, &to};
    CU_CHECK(
        cuLaunchKernel(kernel, rows / kRowsInBlock, 1, 1, 32 * kRowsInBlock, 1, 1, 0, nullptr, arguments, nullptr));
  });
  std::vector<unsigned> found(rows);
  CU_CHECK(cuMemcpyDtoH(found.data(), sums.address, rows * sizeof(unsigned)));
  if (found != std::vector<unsigned>(rows, 3 * width)) return 0;
  return static_cast<double>(rows) * width / seconds / 1e9;
}

// As many rows as a kernel needs a millisecond for, or kMostRows.
int fitting_rows(CUfunction kernel) {
  int rows = 64;
  for (; rows < kMostRows; rows *= 2) {
    const cu::Memory packed(static_cast<std::size_t>(rows) * kWide);
    const double speed = row_sum_speed(kernel, packed.address, kWide, kWide, rows);
    if (static_cast<double>(rows) * kWide / 1e9 / speed > kLongEnough) break;
  }
  return rows;
}

// What kernels gain from the pitch.
bool measure_row_sums() {
  const cu::Module module(cu::image("kernels.ptx"));
  const CUfunction by_4 = module.function("sum_rows"), by_16 = module.function("sum_rows_16");
  const int rows = fitting_rows(by_4);
  const cu::Memory packed(static_cast<std::size_t>(rows) * kWide);
  const Image padded(kWide, rows);
  std::printf("\n%d rows of %d bytes      | GB/s\n", rows, kWide);
  const auto show_speed = [](const char* how, double speed) {
    std::printf("%-28s | %6.1f%s\n", how, speed, speed > 0 ? "" : " (wrong)");
    return speed > 0;
  };
  bool correct = show_speed("packed, 4-byte loads", row_sum_speed(by_4, packed.address, kWide, kWide, rows));
  correct &= show_speed("padded, 4-byte loads", row_sum_speed(by_4, padded.memory.address, padded.pitch, kWide, rows));
  correct &=
      show_speed("padded, 16-byte loads", row_sum_speed(by_16, padded.memory.address, padded.pitch, kWide, rows));
  std::printf("\nonly %d bytes of each row\n", kStrip);
  correct &= show_speed("packed, 4-byte loads", row_sum_speed(by_4, packed.address, kWide, kStrip, rows));
  correct &= show_speed("padded, 4-byte loads", row_sum_speed(by_4, padded.memory.address, padded.pitch, kStrip, rows));
  return correct;
}

// Which pitches cuMemcpy2D accepts within the device, and what short rows cost.
void compare_copies() {
  constexpr int kRows = 1 << 15, kWidth = 4000;
  constexpr std::size_t kBytes = 32 << 20;
  const auto speed_of = [](CUresult (*copy)(const CUDA_MEMCPY2D*), const CUDA_MEMCPY2D& what) {
    const double seconds = cu::median_seconds([&] {
      CU_CHECK(copy(&what));
      CU_CHECK(cuCtxSynchronize());
    });
    return static_cast<double>(what.WidthInBytes) * what.Height / seconds / 1e9;
  };
  std::printf("\n%d rows of %d bytes within the device, GB/s\npitch | cuMemcpy2D | cuMemcpy2DUnaligned\n", kRows,
              kWidth);
  for (const std::size_t pitch : {4000, 4001, 4002, 4004, 4096, 4097}) {
    const cu::Memory from(pitch * kRows), to(pitch * kRows);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from.address;
    copy.dstDevice = to.address;
    copy.srcPitch = copy.dstPitch = pitch;
    copy.WidthInBytes = kWidth;
    copy.Height = kRows;
    std::printf("%5zu | %10.1f | %19.1f\n", pitch, speed_of(cuMemcpy2D, copy), speed_of(cuMemcpy2DUnaligned, copy));
  }
  std::printf("\n32 MiB from pinned memory, GB/s\nbytes in a row | cuMemcpy2D\n");
  const cu::Pinned pinned(kBytes);
  for (const std::size_t width : {16, 64, 512, 4096, 65536}) {
    const Image image(width, kBytes / width);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = pinned.address;
    copy.srcPitch = width;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = image.memory.address;
    copy.dstPitch = image.pitch;
    copy.WidthInBytes = width;
    copy.Height = kBytes / width;
    std::printf("%14zu | %10.1f\n", width, speed_of(cuMemcpy2D, copy));
  }
}

int main(int argc, char** argv) try {
  const cu::Primary context;
  cu::print_device(context.device);
  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {
    compare_copies();
    return 0;
  }
  int most;
  CU_CHECK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_PITCH, context.device));
  std::printf("Pitches up to %d bytes can be copied.\n\nbytes in a row | pitch\n", most);
  for (const std::size_t width : {1, 26, 512, 513, 1920, 4097}) {
    std::printf("%14zu | %5zu\n", width, Image(width, kHeight).pitch);
  }
  bool correct = copy_rectangles();
  correct &= measure_row_sums();
  return correct ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
