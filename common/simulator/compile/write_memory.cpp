// Loads and stores. If the addresses of a row of lanes are a fixed distance apart, one test serves the row. Others are
// scattered: the loop over the lanes computes offsets and collects what tells whether all are inside and aligned, and a
// second loop reads or writes. In both cases an access that does not pass the test is the interpreter's.
#include "common/simulator/compile/writer.hpp"

#include "common/simulator/isa/memory.hpp"

#include <algorithm>

namespace cudasim::compile {
namespace {

u32 scale_of(const Instruction& at) { return at.control >> kScaleShift & kMaxScale; }
std::string address_type(const Operation& operation) {
  const bool own = operation.place == Operation::shared || operation.place == Operation::local;
  return own ? operation.types[2] : "u64";
}
// Functions get pointers to variables of their callers. The index of an indexed access is for an array in global
// memory.
bool may_be_local(const Operation& operation, const Instruction& at) {
  return operation.place == Operation::global && space_in(at) == Space::generic;
}
bool signed_index(const Instruction& at) { return (at.control & kSignedIndex) != 0; }

}  // namespace

std::string Writer::view_of(u32 i) {
  const std::string view = fresh("v");
  line("const View& " + view + " = views[(first_view + " + text(i) + ") % kViews];");
  return view;
}

// Which loads one test can serve: those that follow with the same registers and other offsets, none of them far away.
Writer::Extent Writer::extent_of(u32 i) const {
  constexpr i64 kNear = 1 << 20;
  const Instruction& at = instruction(i);
  const i64 bytes = bytes_of(i);
  Extent extent{key_of(i), i, at.offset, at.offset};
  if (flow_.operations()[i].kind == Operation::stores) return extent;
  for (u32 k = i; k < block_->end; ++k) {
    const i64 away = instruction(k).offset - at.offset;
    if (flow_.operations()[k].kind == Operation::loads && key_of(k) == extent.key && away % bytes == 0 &&
        away < kNear && away > -kNear) {
      extent.last = k;
      extent.least = std::min(extent.least, at.offset + away), extent.most = std::max(extent.most, at.offset + away);
    } else if (may_write(k)) {
      break;
    }
    const auto reads = [&](Slot slot) {
      const auto& all = flow_.reads(i);
      return slot == (at.guard & ~3u) || std::find(all.begin(), all.end(), slot) != all.end();
    };
    if (std::any_of(flow_.writes(k).begin(), flow_.writes(k).end(), reads)) break;
  }
  return extent;
}

u32 Writer::bytes_of(u32 i) const { return size_of(flow_.operations()[i].types[0]) * flow_.operations()[i].elements; }

// Whether it ends the segment.
bool Writer::may_write(u32 i) const {
  const Operation::Kind kind = flow_.operations()[i].kind;
  if (kind == Operation::computes && one_by_one_) return false;
  return kind == Operation::stores || kind == Operation::branch || flow_.uses_handler(i, kinds_);
}

// What the addresses of a load or store consist of, except for the offset.
std::string Writer::key_of(u32 i) const {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const u32 base = operation.kind == Operation::loads ? operation.elements : 0;
  std::string key = text(u32{operation.place}) + " " + operation.types.back() + " " + operation.types[0] + " " +
                    text(at.control) + " " + text(at.guard);
  for (const Slot slot :
       {at.slot[base], operation.place == Operation::indexed ? at.slot[operation.elements + 1] : kNoSlot})
    key += " " + text(slot);
  return key;
}

// --- Rows ------------------------------------------------------------------------------------------------------------

// Where the first lane of a row has its place on the host; the lanes may access all of them.
std::string Writer::host_address(u32 i, Slot base, i64 stride) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const auto behind = [&](const Group& group) {
    return at.offset == group.least ? group.host + "[row]" : group.host + "[row] + " + text(at.offset - group.least);
  };
  const Extent extent = extent_of(i);
  for (const Group& group : rows_) {
    if (group.key == extent.key && i <= group.last) return behind(group);
  }
  const std::string address = fresh("a"), host = fresh("h");
  std::string sum = "u64{0}";
  if (base != kNoSlot)
    sum = "u64(" + row_text(base, operation.place == Operation::shared ? operation.types[2] : "u64") + ")";
  if (operation.place == Operation::indexed) {
    const Slot index = at.slot[operation.elements + 1];
    const std::string type = signed_index(at) ? "i32" : "u32";
    require_steady(index, type);
    sum += " + u64(" + row_text(index, type) + ") * " + text(scale_of(at));
  }
  line("const auto " + address + " = each<u64>([&](u32 row) { return " + sum + " + " + offset_text(i, extent.least) +
       "; });");
  const u64 width = static_cast<u64>(extent.most - extent.least) + bytes_of(i);
  const std::string fits = "within<" + text(bytes_of(i)) + ", " + text(width) + ", " + text(stride) + ">(";
  std::string delta;
  if (operation.place == Operation::shared) {
    const std::string first = base == kNoSlot ? "0u" : "shared.begin";
    require(fits + first + ", shared.bytes, " + address + ")");
    delta = "u64(shared.at) - " + first;
  } else {
    const std::string view = view_of(i), writable = operation.kind == Operation::stores ? view + ".writable && " : "";
    require(writable + fits + view + ".begin, " + view + ".end - " + view + ".begin, " + address + ")");
    delta = "u64(" + view + ".delta)";
  }
  line("const auto " + host + " = each<u64>([&](u32 row) { return " + address + "[row] + " + delta + "; });");
  rows_.push_back({extent.last, extent.least, host, "", extent.key});
  return behind(rows_.back());
}

void Writer::load_rows(u32 i, i64 stride) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const std::string host = host_address(i, at.slot[operation.elements], stride);
  const std::string &m = operation.types[0], &r = operation.types[1];
  const u32 bytes = size_of(r);
  for (u32 e = 0; e < operation.elements; ++e) {
    const Slot slot = at.slot[e];
    if (slot == kNoSlot) continue;
    const std::string name = fresh("l"), behind = e == 0 ? "" : " + " + text(e * size_of(m));
    const std::string lane = stride == 0 ? "" : " + place * i64(" + text(stride) + ")";
    const std::string loaded = "static_cast<" + r + ">(load<" + m + ">(" + host + lane + behind + "))";
    if (stride == 0) {
      line("const auto " + name + " = each<" + unsigned_of(bytes) + ">([&](u32 row) { return " + loaded + "; });");
      values_[slot] = {Value::rows, name, bytes, 0, false};
    } else {
      in_loop("const " + r + " " + name + " = " + loaded + ";");
      values_[slot] = {Value::lane, name, bytes, 0, false, r, false, {}, true};
    }
  }
}

void Writer::store_rows(u32 i, i64 stride) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  cut(i);
  const std::string host = host_address(i, at.slot[0], stride);
  const std::string &m = operation.types[0], &r = operation.types[1];
  std::string body;
  for (u32 e = 0; e < operation.elements; ++e) {
    body += "      store<" + m + ">(" + host + " + place * i64(" + text(stride) + ") + " + text(e * size_of(m)) +
            ", static_cast<" + m + ">(" + lane_text(at.slot[1 + e], r) + "));\n";
  }
  line("CUDASIM_LANES {");
  line("  [[maybe_unused]] const u32 lane = row * kRow + place;");
  out_ += body;
  line("}");
}

// --- Scattered accesses ----------------------------------------------------------------------------------------------

// The name of the mask of the lanes that execute; empty: all.
std::string Writer::executing(u32 i) {
  const Slot guard = instruction(i).guard;
  if (guard == kNoSlot) return together_ ? "" : "m";
  if (value(guard & ~3u).where == Value::flag) cut(i);
  const std::string name = fresh("e");
  line("const u32 " + name + " = " + guard_mask(i) + ";");
  return name;
}

// The 64-bit register's value in a lane, outside loops.
std::string Writer::address_in(Slot base, const std::string& lane) const {
  if (base == kNoSlot) return "u64{0}";
  const Value v = value(base);
  if ((base & kConstant) != 0) return "*at<u64>(k, " + text(base & ~kConstant) + ")";
  if (v.where == Value::rows)
    return "(" + v.name + "[" + lane + " / kRow] + u64(" + text(v.stride) + ") * (" + lane + " % kRow))";
  return v.where == Value::array ? "u64(" + v.name + "[" + lane + "])" : "at<u64>(f, " + text(base) + ")[" + lane + "]";
}

// The memory that the access may touch.
Writer::Stretch Writer::stretch(u32 i, Slot base) {
  const Operation& operation = flow_.operations()[i];
  if (operation.place == Operation::local) return {"0u", "local.end", "u64(local.at)", "local.stride", "", ""};
  if (operation.place == Operation::shared)
    return {base != kNoSlot ? "shared.begin" : "0u", "shared.bytes", "u64(shared.at)", "", "", ""};
  const std::string view = view_of(i);
  return {view + ".begin",
          view + ".end - " + view + ".begin",
          view + ".begin + u64(" + view + ".delta)",
          "",
          operation.kind == Operation::stores ? view + ".writable && " : "",
          view};
}

// The same if the first lane's generic address may be one of local memory.
Writer::Stretch Writer::or_local(const Stretch& global, u32 i, Slot base, const std::string& mask) {
  const std::string own = fresh("own");
  const std::string lane = mask.empty() ? "0" : "(" + mask + " != 0 ? __builtin_ctz(" + mask + ") : 0)";
  line("const bool " + own + " = is_local(" + address_in(base, lane) + " + " + offset_text(i) + ");");
  const auto choose = [&](const std::string& local, const std::string& other) {
    return "(" + own + " ? " + local + " : " + other + ")";
  };
  return {choose("kLocalWindow", global.first),
          choose("local.end", global.size),
          choose("u64(local.at)", global.host),
          choose("local.stride", "0"),
          global.good.empty() ? "" : "(" + own + " || " + global.view + ".writable) && ",
          global.view};
}

Writer::Place Writer::place(u32 i, Slot base) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const u32 bytes = size_of(operation.types[0]) * operation.elements;
  const bool shared = operation.place == Operation::shared, indexed = operation.place == Operation::indexed;
  const bool local = operation.place == Operation::local;
  const bool by_index = indexed && scale_of(at) % bytes == 0;
  const bool generic = may_be_local(operation, at);
  if ((indexed || generic) && base != kNoSlot && value(base).where == Value::lane) cut(i);
  const std::string mask = executing(i), n = fresh("");
  const std::string offsets = "o" + n, or_all = "w" + n, or_rest = "n" + n, most = "z" + n;
  // Each lane's local memory has a place of its own, so an offset there may need 64 bits.
  const std::string type = by_index ? "u32" : shared ? "u" + text(8 * size_of(operation.types[2])) : "u64";
  Stretch memory = stretch(i, base);
  if (generic) memory = or_local(memory, i, base, mask);
  const std::string &first = memory.first, &size = memory.size, &view = memory.view, &stride = memory.stride;
  std::string good = memory.good, offset, uniform;
  Place place{memory.host, offsets, "1", mask};
  if (indexed) {
    const Value v = value(base);
    const bool constant = (base & kConstant) != 0;
    uniform = constant                  ? "*at<u64>(k, " + text(base & ~kConstant) + ")"
              : v.where == Value::frame ? "*at<u64>(f, " + text(base) + ")"
                                        : "u64(" + v.name + "[0])";
    uniform += " + " + offset_text(i);
  }
  const std::string index_type = signed_index(at) ? "i32" : "u32";
  if (by_index) {
    const std::string range = fresh("g");
    line("const Range " + range + " = range_of<" + text(bytes) + ", " + text(scale_of(at)) + ", " + index_type + ">(" +
         uniform + ", " + first + ", " + size + ", u64(" + view + ".delta));");
    offset = "u32(" + lane_text(at.slot[operation.elements + 1], index_type) + ") - " + range + ".first";
    place.host = range + ".host", place.scale = text(scale_of(at));
    line("const u32 " + most + " = " + range + ".most;");
    good += range + ".good";
  } else {
    std::string address = indexed ? uniform + " + u64(" + lane_text(at.slot[operation.elements + 1], index_type) +
                                        ") * " + text(scale_of(at))
                                  : (base != kNoSlot ? lane_text(base, address_type(operation)) + " + "
                                     : local         ? "local.base + "
                                                     : "") +
                                        offset_text(i);
    offset = type + "(" + address + ") - " + type + "(" + first + ")";
    line("const " + type + " " + most + " = " + type + "(" + size + " - " + text(bytes) + ");");
    good += size + " >= " + text(bytes) + " && (" + first + " | " + or_all + ") % " + text(bytes) + " == 0";
  }
  line("alignas(64) " + type + " " + offsets + "[kWarpSize];");
  line(type + " " + or_all + " = 0, " + or_rest + " = 0;");
  const std::string own = fresh("j");
  in_loop("const " + type + " " + own + " = " +
          (mask.empty() ? offset : type + "(" + offset + ") & -" + type + "(" + mask + " >> lane & 1)") + ";");
  in_loop(offsets + "[lane] = " + own + (stride.empty() ? "" : " + lane * " + stride) + ", " + or_all + " |= " + own +
          ", " + or_rest + " |= " + most + " - " + own + ";");
  const std::string top = text(type == "u32" ? 31u : 63u);
  const std::string inside = good + " && (" + or_all + " | " + or_rest + ") >> " + top + " == 0";
  require_behind_loop(mask.empty() || mask == "m" ? inside : mask + " == 0 || (" + inside + ")");
  return place;
}

// An expression that tells whether the addresses of the instruction that is being written are one. Lanes that read one
// address get one value, even if another thread writes there at this moment. Empty: they are not.
std::string Writer::alike() {
  if (varies_) return "";
  std::string all;
  for (const std::string& source : sources_) {
    std::string& name = alike_[source];
    if (name.empty()) {
      name = fresh("one");
      line("const bool " + name + " = alike(" + source + (together_ ? ");" : ", m);"));
    }
    all += (all.empty() ? "(" : " & ") + name;
  }
  return all.empty() ? "true" : all + ")";
}

// The load's group, with the test of its addresses in the loop. The loads that follow with the same registers join it.
const Writer::Group& Writer::group_of(u32 i, const std::string& mask) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const bool shared = operation.place == Operation::shared, indexed = operation.place == Operation::indexed;
  const bool local = operation.place == Operation::local;
  const Extent extent = extent_of(i);
  for (const Group& group : groups_) {
    if (group.key == extent.key && i <= group.last) return group;
  }
  const u32 bytes = bytes_of(i);
  Group group{extent.last, extent.least, fresh("h"), "", extent.key};
  const u64 width = static_cast<u64>(extent.most - extent.least) + bytes;
  const std::string least = "u64(i64(" + text(group.least) + "))", n = fresh("");
  const std::string offset = "o" + n, limit = "z" + n, bits = "w" + n, before = "n" + n;
  const Stretch global = stretch(i, at.slot[operation.elements]);
  const bool generic = may_be_local(operation, at);
  std::string first = global.first;
  const std::string type =
      shared ? operation.types[2] == "u32" || size_of(operation.types[2]) == 4 ? "u32" : "u64" : "u64";
  const Slot base = at.slot[operation.elements];
  std::string address = base != kNoSlot ? lane_text(base, address_type(operation)) : local ? "local.base" : "u64{0}";
  varies_ |= local;  // equal addresses are not one place
  if (indexed)
    address += " + u64(" + lane_text(at.slot[operation.elements + 1], signed_index(at) ? "i32" : "u32") + ") * " +
               text(scale_of(at));
  const auto within = [&](const std::string& bytes) {
    return "(" + bytes + " >= " + text(width) + " ? " + bytes + " - " + text(width) + " + 1 : 0)";
  };
  line("const u64 " + limit + (generic ? "v" : "") + " = " + within(global.size) + ";");
  line("const u64 " + group.host + "a = " + global.host + ";");
  const std::string own = "m" + n;
  if (generic) {
    line("const u64 " + limit + "l = " + within("local.end") + ";");
    in_loop("const bool " + own + " = is_local(" + address + " + " + least + ");");
    in_loop("const u64 " + limit + " = " + own + " ? " + limit + "l : " + limit + "v;");
    first = "(" + own + " ? kLocalWindow : " + first + ")";
  }
  line("u64 " + bits + " = 0;");
  in_loop("const " + type + " " + offset + " = " + type + "(" + address + " + " + least + ") - " + type + "(" + first +
          ");");
  const std::string executes = mask.empty() || mask == "m" ? "" : "(" + mask + " >> lane & 1) != 0";
  in_loop("if (" + executes + (executes.empty() ? "" : " && ") + offset + " >= " + limit +
          ") [[unlikely]] { failed = true; break; }");
  in_loop((executes.empty() ? "" : "if (" + executes + ") ") + bits + " |= " + offset + ";");
  in_loop("const u64 " + group.host + " = " +
          (generic ? "(" + own + " ? u64(local.at) + lane * local.stride : " + group.host + "a)" : group.host + "a") +
          " + " + offset + (local ? " + lane * local.stride;" : ";"));
  group.alike = executes.empty() ? alike() : "";
  if (generic && !group.alike.empty()) group.alike = "(" + group.alike + " & !" + own + ")";
  if (generic) varies_ = true;  // what is loaded, even if the address does not
  group.sources = sources_, group.varies = varies_;
  may_fail_ = true;
  // Local memory begins at a multiple of every access.
  const std::string begin = generic ? global.first : first;
  if (bytes > 1) require_behind_loop("(" + begin + " | " + bits + ") % " + text(bytes) + " == 0");
  groups_.push_back(group);
  return groups_.back();
}

void Writer::load_one_by_one(u32 i) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const std::string mask = executing(i);
  const Group group = group_of(i, mask);
  const std::string &m = operation.types[0], &r = operation.types[1];
  for (u32 e = 0; e < operation.elements; ++e) {
    const Slot slot = at.slot[e];
    if (slot == kNoSlot) continue;
    const std::string name = fresh("y");
    if (!group.alike.empty()) line(r + " " + name + "n = 0;");
    const std::string value = "static_cast<" + r + ">(load<" + m + ">(" + group.host + " + " +
                              text(at.offset - group.least + i64{e} * size_of(m)) + "))";
    if (at.guard != kNoSlot)
      in_loop(r + " " + name + " = " + lane_text(slot, r) + "; if ((" + mask + " >> lane & 1) != 0) " + name + " = " +
              value + ";");
    else if (group.alike.empty())
      in_loop("const " + r + " " + name + " = " + value + ";");
    else
      in_loop("const " + r + " " + name + " = " + "__builtin_expect(" + group.alike + ", false) ? (first ? " + name +
              "n = " + value + " : " + name + "n) : " + value + ";");
    values_[slot] = {
        Value::lane, name, size_of(r), 0, false, r, false, group.sources, group.varies || at.guard != kNoSlot};
  }
}

void Writer::load_scattered(u32 i) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const Place where = place(i, at.slot[operation.elements]);
  const std::string &m = operation.types[0], &r = operation.types[1];
  for (u32 e = 0; e < operation.elements; ++e) {
    const Slot slot = at.slot[e];
    if (slot == kNoSlot) continue;
    const std::string name = fresh("y");
    line("alignas(64) " + r + " " + name + "[kWarpSize]" + (where.mask == "m" ? " = {};" : ";"));
    if (at.guard != kNoSlot) in_loop(name + "[lane] = " + lane_text(slot, r) + ";");
    behind_loop("gather<" + m + ", " + where.scale + ">(" + name + ", " + where.host + " + " + text(e * size_of(m)) +
                ", " + where.offset + (where.mask.empty() ? "" : ", " + where.mask) + ");");
    values_[slot] = {Value::array, name, size_of(r), 0, false, r, true};
  }
}

// The lowest lane first: of lanes that write to one place, the highest wins.
void Writer::store_scattered(u32 i) {
  const Operation& operation = flow_.operations()[i];
  const Instruction& at = instruction(i);
  const Place where = place(i, at.slot[0]);
  cut(i);
  const std::string &m = operation.types[0], &r = operation.types[1];
  std::vector<std::string> values;
  for (u32 e = 0; e < operation.elements; ++e)
    values.push_back("static_cast<" + m + ">(" + lane_text(at.slot[1 + e], r) + ")");
  const std::string lanes = where.mask.empty() ? "kAllLanes" : where.mask;
  const u32 bytes = size_of(m), scale = static_cast<u32>(std::stoul(where.scale));
  if (operation.elements == 1 && bytes % scale == 0 && bytes >= 4) {
    const std::string row = fresh("rh");
    line("if (" + lanes + " != 0 && in_row<" + text(bytes / scale) + ">(" + where.offset + ", " + lanes + ")) {");
    line("  const u64 " + row + " = " + where.host + " + u64(" + where.offset + "[__builtin_ctz(" + lanes + ")]) * " +
         where.scale + " - u64(__builtin_ctz(" + lanes + ")) * " + text(bytes) + ";");
    line("  CUDASIM_LANES {");
    line("    [[maybe_unused]] const u32 lane = row * kRow + place;");
    line("    if ((" + lanes + " >> lane & 1) != 0) store<" + m + ">(" + row + " + u64(lane) * " + text(bytes) + ", " +
         values[0] + ");");
    line("  }");
    line("} else {");
  } else {
    line("{");
  }
  line("for (u32 rest = " + lanes + "; rest != 0; rest &= rest - 1) {");
  line("  const u32 lane = u32(__builtin_ctz(rest));");
  line("  [[maybe_unused]] const u32 row = lane / kRow, place = lane % kRow;");
  for (u32 e = 0; e < operation.elements; ++e)
    line("  store<" + m + ">(" + where.host + " + u64(" + where.offset + "[lane]) * " + where.scale + " + " +
         text(e * bytes) + ", " + values[e] + ");");
  line("}");
  line("}");
}

// ---------------------------------------------------------------------------------------------------------------------

void Writer::load(u32 i) {
  if (const auto stride = flow_.address_stride(i, kinds_))
    load_rows(i, *stride);
  else if (one_by_one_)
    load_one_by_one(i);
  else
    load_scattered(i);
}

void Writer::store(u32 i) {
  const auto stride = flow_.address_stride(i, kinds_);
  if (stride && *stride != 0)
    store_rows(i, *stride);
  else
    store_scattered(i);
  if (flow_.operations()[i].place != Operation::local) line("warp.polls = 0;");
  begin_segment(i + 1);
}

}  // namespace cudasim::compile
