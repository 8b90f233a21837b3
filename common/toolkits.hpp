// Every CUDA Toolkit since 8.0: the oldest Linux driver that supports all of its features, the PTX version that its
// nvcc writes, and the newest g++ that its nvcc accepts. Lesson 01-06 includes this file; common/diagnosis reads it as
// text.
//
// Sources: CUDA Toolkit Release Notes, "CUDA Toolkit and Corresponding Driver Versions" (13.3 and earlier); PTX ISA,
// "Release Notes"; crt/host_config.h of the toolkits for g++. Toolkits since 13.4 contain no driver. For 13.4, the
// table has the driver branch that CUTLASS 4.8 requires (its release notes: R615). For 13.5, no source is known: "".
#pragma once

namespace cu {

struct Toolkit {
  int major, minor;
  const char* driver;
  const char* ptx;
  int gcc;
};

// clang-format off
inline constexpr Toolkit toolkits[] = {
    { 8, 0, "375.26",    "5.0",  5},
    { 9, 0, "384.81",    "6.0",  6},
    { 9, 1, "390.46",    "6.1",  6},
    { 9, 2, "396.26",    "6.2",  7},
    {10, 0, "410.48",    "6.3",  7},
    {10, 1, "418.39",    "6.4",  8},
    {10, 2, "440.33",    "6.5",  8},
    {11, 0, "450.51.05", "7.0",  9},
    {11, 1, "455.23",    "7.1", 10},
    {11, 2, "460.27.03", "7.2", 10},
    {11, 3, "465.19.01", "7.3", 10},
    {11, 4, "470.42.01", "7.4", 11},
    {11, 5, "495.29.05", "7.5", 11},
    {11, 6, "510.39.01", "7.6", 11},
    {11, 7, "515.43.04", "7.7", 11},
    {11, 8, "520.61.05", "7.8", 11},
    {12, 0, "525.60.13", "8.0", 12},
    {12, 1, "530.30.02", "8.1", 12},
    {12, 2, "535.54.03", "8.2", 12},
    {12, 3, "545.23.06", "8.3", 12},
    {12, 4, "550.54.14", "8.4", 13},
    {12, 5, "555.42.02", "8.5", 13},
    {12, 6, "560.28.03", "8.5", 13},
    {12, 8, "570.26",    "8.7", 14},
    {12, 9, "575.51.03", "8.8", 14},
    {13, 0, "580.65.06", "9.0", 15},
    {13, 1, "590.44.01", "9.1", 15},
    {13, 2, "595.45.04", "9.2", 15},
    {13, 3, "610.43.02", "9.3", 15},
    {13, 4, "615",       "9.4", 16},
    {13, 5, "",          "9.5", 16},
};

// The oldest driver that starts the programs of a whole major version (CUDA Compatibility, "Minor Version Compatibility").
struct Family {
  int major;
  const char* driver;
};

inline constexpr Family families[] = {
    {11, "450.80.02"},
    {12, "525.60.13"},
    {13, "580.65.06"},
};
// clang-format on

}  // namespace cu
