// What wrong solutions and edited programs include most often, for g++ to parse once. Nothing else includes this file.
#pragma once

#include "common/cu.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>
