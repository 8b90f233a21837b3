// What lanes of a warp and threads of a block do together: exchange and vote, barriers and fences, mbarriers, copies
// that run beside the threads.
#pragma once
#include "tests/instructions/memory.hpp"

namespace instructions {

// Lanes of the thread's warp that are active, in a block of `threads`.
inline u32 active_lanes(u32 t, u32 threads) {
  u32 lanes = 0;
  for (u32 lane = 0; lane < 32; ++lane)
    lanes |= u32{(t / 32 * 32 + lane) < threads && active(t / 32 * 32 + lane)} << lane;
  return lanes;
}
inline u32 ones(u32 x) { return u32(__builtin_popcount(x)); }

inline Programs warp_cases() {
  Programs all;
  const u32 threads = 80;
  // %r1: the lanes that take part; %r2: the thread's value.
  const std::string among = "@!%go bra SKIP;\nactivemask.b32 %r1;\nld.global.u32 %r2, [%in]; and.b32 %r3, %t, 31;\n",
                    end = "SKIP:\n";
  const auto add = [&](const std::string& body, std::function<Results(u32 t, u32 lanes, u32 lane)> want) {
    Program p;
    p.body = among + body + end;
    p.want = [want](u32 t) { return active(t) ? want(t, active_lanes(t, threads), t % 32) : kNothing; };
    all.push_back(p);
  };
  add("cvt.u64.u32 %d0, %r1;\n",
      [](u32, u32 lanes, u32) { return Results{lanes, kUntouched, kUntouched, kUntouched}; });
  // Shuffles: of the manual's "Semantics", over lanes that all take part (the first warp) or not.
  for (const char* mode : {"up", "down", "bfly", "idx"}) {
    for (const u32 b : {0u, 1u, 3u, 16u, 31u}) {
      for (const u32 segment : {0u, 0x18u, 0x10u}) {
        const std::string m = mode;
        const u32 clamp = m == "up" ? 0 : 31, c = segment << 8 | clamp;
        for (const bool predicate : {false, true}) {
          // Lanes to be read must take part: the whole first warp does.
          Program p;
          p.body = "setp.ge.u32 %p7, %t, 32; @%p7 bra SKIP;\nld.global.u32 %r2, [%in];\nshfl.sync." + m + ".b32 %r4" +
                   (predicate ? "|%p1" : "") + ", %r2, " + number(b) + ", " + number(c) +
                   ", -1;\ncvt.u64.u32 %d0, %r4;\n" + (predicate ? "selp.u64 %d1, 1, 0, %p1;\n" : "") + end;
          p.want = [=](u32 t) -> Results {
            if (t >= 32) return kNothing;
            const int lane = int(t % 32), least = lane & int(segment), most = least | (int(clamp) & ~int(segment));
            int from = m == "up"     ? lane - int(b)
                       : m == "down" ? lane + int(b)
                       : m == "bfly" ? lane ^ int(b)
                                     : least | (int(b) & ~int(segment));
            const bool in = m == "up" ? from >= most : from <= most;
            if (!in) from = lane;
            return {u32(word(t / 32 * 32 + u32(from), 0)), predicate ? u64{in} : kUntouched, kUntouched, kUntouched};
          };
          all.push_back(p);
        }
      }
    }
  }
  // Votes on the lowest bit of the value, and on what no lane, or each one, says.
  for (const char* what : {"bit", "none", "each"}) {
    const std::string w = what;
    const std::string ask = w == "bit"    ? "and.b32 %r4, %r2, 1; setp.ne.u32 %p1, %r4, 0;\n"
                            : w == "none" ? "setp.ne.u32 %p1, 0, 0;\n"
                                          : "setp.eq.u32 %p1, 0, 0;\n";
    add(ask +
            "vote.sync.all.pred %p2, %p1, %r1; vote.sync.any.pred %p3, %p1, %r1; vote.sync.uni.pred %p4, %p1, %r1; "
            "vote.sync.ballot.b32 %r5, %p1, %r1;\n"
            "selp.u64 %d0, 1, 0, %p2; selp.u64 %d1, 1, 0, %p3; selp.u64 %d2, 1, 0, %p4; cvt.u64.u32 %d3, %r5;\n",
        [w](u32 t, u32 lanes, u32) {
          u32 ballot = 0;
          for (u32 l = 0; l < 32; ++l)
            ballot |= u32{w == "each" || (w == "bit" && (word(t / 32 * 32 + l, 0) & 1))} << l;
          ballot &= lanes;
          return Results{ballot == lanes, ballot != 0, ballot == lanes || ballot == 0, ballot};
        });
  }
  for (const char* type : {"b32", "b64"}) {
    const bool wide = type == std::string("b64");
    // Values of two bits, in the upper half of 64.
    const std::string x = wide ? "and.b32 %r4, %r2, 3; cvt.u64.u32 %a1, %r4; shl.b64 %a1, %a1, 32;\n"
                               : "and.b32 %r4, %r2, 3;\n",
                      reg = wide ? "%a1" : "%r4";
    add(x + "match.any.sync." + type + " %r5, " + reg + ", %r1; match.all.sync." + type + " %r6|%p1, " + reg +
            ", %r1; match.all.sync." + type + " %r7|%p2, " + reg + ", %r5;\n" +
            "cvt.u64.u32 %d0, %r5; cvt.u64.u32 %d1, %r6; selp.u64 %d2, 1, 0, %p1; selp.u64 %d3, 1, 0, %p2;\n",
        [](u32 t, u32 lanes, u32) {
          u32 same = 0;
          for (u32 l = 0; l < 32; ++l) same |= u32{(word(t / 32 * 32 + l, 0) & 3) == (word(t, 0) & 3)} << l;
          same &= lanes;
          return Results{same, same == lanes ? lanes : 0, same == lanes, 1};
        });
  }
  for (const std::string op : {"add", "min", "max", "and", "or", "xor"}) {
    const bool logic = op == "and" || op == "or" || op == "xor";
    for (const std::string type : {"u32", "s32", "b32"}) {
      if (logic != (type == "b32")) continue;
      add("redux.sync." + op + "." + type + " %r4, %r2, %r1; cvt.u64.u32 %d0, %r4;\n", [=](u32 t, u32 lanes, u32) {
        bool first = true;
        u32 sum = 0;
        for (u32 l = 0; l < 32; ++l) {
          if ((lanes >> l & 1) == 0) continue;
          const u32 x = u32(word(t / 32 * 32 + l, 0));
          const bool less = type == "s32" ? i32(x) < i32(sum) : x < sum;
          if (first) {
            sum = x, first = false;
          } else if (op == "add") {
            sum += x;
          } else if (logic) {
            sum = op == "and" ? sum & x : op == "or" ? sum | x : sum ^ x;
          } else if (less == (op == "min")) {
            sum = x;
          }
        }
        return Results{sum, kUntouched, kUntouched, kUntouched};
      });
    }
  }
  // One is elected, and all know which.
  add("elect.sync %r4|%p1, %r1; selp.b32 %r5, 1, 0, %p1; redux.sync.add.u32 %r6, %r5, %r1; cvt.u64.u32 %d0, %r6;\n"
      "setp.eq.u32 %p2, %r4, %r3; xor.pred %p3, %p1, %p2; selp.u64 %d1, 1, 0, %p3;\n"
      "elect.sync _|%p4, %r1; selp.u64 %d2, 1, 0, %p4; selp.u64 %d3, 1, 0, %p1; sub.u64 %d2, %d2, %d3; mov.u64 %d3, "
      "0;\n",
      [](u32, u32, u32) { return Results{1, 0, 0, 0}; });
  // Words go from lane to lane through memory.
  add("shl.b32 %r4, %r3, 6; st.shared.u32 [%s], %r2; bar.warp.sync %r1; xor.b32 %r4, %s, 64; ld.shared.u32 %r5, [%r4]; "
      "bar.warp.sync %r1; cvt.u64.u32 %d0, %r5;\n",
      [](u32 t, u32, u32) { return Results{u32(word(t ^ 1, 0)), kUntouched, kUntouched, kUntouched}; });
  // Without .sync: until PTX ISA 6.3, and for targets up to sm_62 later; lanes beside each other.
  Program old;
  old.target = 62;
  old.body =
      "setp.ge.u32 %p7, %t, 32; @%p7 bra SKIP;\nld.global.u32 %r2, [%in]; and.b32 %r4, %r2, 1; setp.ne.u32 %p1, %r4, "
      "0;\n"
      "shfl.bfly.b32 %r5, %r2, 1, 31; shfl.up.b32 %r6|%p2, %r2, 1, 0; shfl.down.b32 %r7, %r2, 1, 31; shfl.idx.b32 %r8, "
      "%r2, 5, 31;\n"
      "vote.all.pred %p3, %p1; vote.any.pred %p4, %p1; vote.uni.pred %p5, %p1; vote.ballot.b32 %r9, %p1;\n"
      "cvt.u64.u32 %d0, %r5; cvt.u64.u32 %d1, %r6; cvt.u64.u32 %d2, %r7; shl.b64 %d2, %d2, 32; cvt.u64.u32 %a1, %r8; "
      "or.b64 %d2, %d2, %a1; cvt.u64.u32 %d3, %r9; shl.b64 %d3, %d3, 4;\n"
      "selp.u64 %a1, 1, 0, %p2; or.b64 %d3, %d3, %a1; selp.u64 %a1, 2, 0, %p3; or.b64 %d3, %d3, %a1; selp.u64 %a1, 4, "
      "0, %p4; or.b64 %d3, %d3, %a1; selp.u64 %a1, 8, 0, %p5; or.b64 %d3, %d3, %a1;\nSKIP:\n";
  old.want = [](u32 t) -> Results {
    if (t >= 32) return kNothing;
    const auto x = [](u32 lane) { return u64{u32(word(lane, 0))}; };
    u64 ballot = 0;
    for (u32 l = 0; l < 32; ++l) ballot |= (x(l) & 1) << l;
    return {x(t ^ 1), x(t == 0 ? 0 : t - 1), x(t == 31 ? 31 : t + 1) << 32 | x(5), ballot << 4 | u64{t != 0} | 4};
  };
  all.push_back(old);
  return all;
}

// A value for the neighbour, a barrier, the neighbour's value.
inline Programs barrier_cases() {
  Programs all;
  const u32 threads = 96;
  const auto exchange = [&](const std::string& meet) {
    Program p;
    p.threads = threads;
    p.body = "st.shared.u32 [%s], %t;\n" + meet +
             "add.u32 %r1, %t, 33; rem.u32 %r1, %r1, 96; shl.b32 %r1, %r1, 6; add.u32 %r1, %r1, %all; ld.shared.u32 "
             "%r2, [%r1]; cvt.u64.u32 %d0, %r2;\n";
    p.want = [](u32 t) { return Results{(t + 33) % 96, kUntouched, kUntouched, kUntouched}; };
    all.push_back(p);
  };
  for (const std::string cta : {"", ".cta"}) {
    for (const std::string& form : {"bar" + cta, "barrier" + cta}) {
      const bool young = form[3] == 'r';
      for (const std::string aligned : {"", ".aligned"}) {
        if (!young && !aligned.empty()) continue;
        exchange(form + ".sync" + aligned + " 0;\n");
        exchange(form + ".sync" + aligned + " 3, 96;\n");
        exchange("mov.u32 %r3, 5; mov.u32 %r4, 96; " + form + ".sync" + aligned + " %r3, %r4;\n");
        // The first two warps only say that they are there; the third waits for them, and then for all.
        Program p;
        p.threads = threads;
        p.body = "setp.lt.u32 %p1, %t, 64; @%p1 st.shared.u32 [%s], %t; @!%p1 bra WAIT;\n" + form + ".arrive" +
                 aligned + " 2, 96;\nbra DONE;\nWAIT:\n" + form + ".sync" + aligned +
                 " 2, 96;\nsub.u32 %r1, %t, 40; shl.b32 %r1, %r1, 6; add.u32 %r1, %r1, %all; ld.shared.u32 %r2, [%r1]; "
                 "cvt.u64.u32 %d0, %r2;\nDONE:\n";
        p.want = [](u32 t) { return t < 64 ? kNothing : Results{t - 40, kUntouched, kUntouched, kUntouched}; };
        all.push_back(p);
        for (const std::string count : {"", ", 96"}) {
          Program r;
          r.threads = threads;
          r.body = "rem.u32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %t, 200;\n";
          const auto red = [&](const std::string& op, const std::string& type) {
            return form + ".red." + op + aligned + "." + type + " ";
          };
          r.body += red("popc", "u32") + "%r2, 1" + count + ", %p1; cvt.u64.u32 %d0, %r2;\n" + red("and", "pred") +
                    "%p3, 1" + count + ", %p1; " + red("or", "pred") + "%p4, 1" + count + ", %p1; " +
                    red("and", "pred") + "%p5, 1" + count + ", %p2; " + red("or", "pred") + "%p6, 1" + count +
                    ", !%p2;\n" +
                    "selp.u64 %d1, 1, 0, %p3; selp.u64 %a1, 2, 0, %p4; or.b64 %d1, %d1, %a1; selp.u64 %a1, 4, 0, %p5; "
                    "or.b64 %d1, %d1, %a1; selp.u64 %a1, 8, 0, %p6; or.b64 %d1, %d1, %a1;\n";
          r.want = [](u32) { return Results{32, 2 | 4, kUntouched, kUntouched}; };
          all.push_back(r);
        }
      }
    }
  }
  // Blocks of a cluster: the next block's word.
  for (const auto& words : covering({{"", ".release", ".relaxed"}, {"", ".aligned"}, {"", ".acquire"}})) {
    Program p;
    p.cluster = 2;
    p.threads = 64;
    const std::string fence = words[0] == ".relaxed" ? "fence.acq_rel.cluster;\n" : "";
    p.body = "st.shared.u32 [%s], %x;\n" + fence + "barrier.cluster.arrive" + words[0] + words[1] +
             ";\nbarrier.cluster.wait" + words[2] + words[1] + ";\n" + fence +
             "mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1; mapa.shared::cluster.u32 %r2, %s, %r1; "
             "ld.shared::cluster.u32 %r3, [%r2]; cvt.u64.u32 %d0, %r3;\n"
             "barrier.cluster.arrive; barrier.cluster.wait;\n";
    p.want = [](u32 x) { return Results{(1 - x / 64) * 64 + x % 64, kUntouched, kUntouched, kUntouched}; };
    all.push_back(p);
  }
  // A word, a fence, a flag: a thread that sees the flag sees the word.
  std::vector<std::string> fences = {"membar.cta;",
                                     "membar.gl;",
                                     "membar.sys;",
                                     "fence.mbarrier_init.release.cluster;",
                                     "membar.proxy.alias;",
                                     "fence.proxy.alias;",
                                     "fence.proxy.async;",
                                     "fence.acquire.sync_restrict::shared::cluster.cluster;",
                                     "fence.release.sync_restrict::shared::cta.cluster;",
                                     "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
                                     "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"};
  for (const char* space : {".global", ".shared::cta", ".shared::cluster"})
    fences.push_back("fence.proxy.async" + std::string(space) + ";");
  for (const char* scope : {"cta", "cluster", "gpu", "sys"}) {
    for (const char* order : {"", ".sc", ".acq_rel", ".acquire", ".release"})
      fences.push_back("fence" + std::string(order) + "." + scope + ";");
    fences.push_back("fence.proxy.tensormap::generic.release." + std::string(scope) + ";");
    fences.push_back("and.b64 %a1, %in, -128; fence.proxy.tensormap::generic.acquire." + std::string(scope) +
                     " [%a1], 128;");
  }
  for (const std::string& fence : fences) {
    Program p;
    p.threads = 64;
    // The second warp waits for the first one's flags; both fences around the flag are strong ones, the one under test
    // comes between.
    p.body =
        "mov.u32 %r1, 0; st.shared.u32 [%s+60], %r1; bar.sync 0;\nsetp.ge.u32 %p1, %t, 32; @%p1 bra "
        "READ;\nst.shared.u32 [%s], %x;\n" +
        fence +
        "\nfence.acq_rel.cta; mov.u32 %r1, 1; st.volatile.shared.u32 [%s+60], %r1;\nbra DONE;\nREAD:\nsub.u32 %r3, %s, "
        "2048;\nAGAIN:\nld.volatile.shared.u32 %r2, [%r3+60]; setp.eq.u32 %p2, %r2, 0; @%p2 bra AGAIN;\n" +
        fence + "\nfence.acq_rel.cta; ld.shared.u32 %r4, [%r3]; cvt.u64.u32 %d0, %r4;\nDONE:\n";
    p.want = [](u32 t) { return t < 32 ? kNothing : Results{t - 32, kUntouched, kUntouched, kUntouched}; };
    all.push_back(p);
  }
  return all;
}

// Each thread has a barrier of its own in `spare`, and goes through its phases: what is pending before and after each
// step.
inline Programs mbarrier_cases() {
  Programs all;
  const std::string setup =
      "mov.u32 %r1, spare; shl.b32 %r0, %t, 6; add.u32 %r1, %r1, %r0; cvt.u64.u32 %a1, %r1; cvta.shared.u64 %a1, "
      "%a1;\n";
  const auto at = [](const std::string& space, u32 k) {
    return std::string("[") + (space.empty() && k % 2 == 0 ? "%a1" : space.empty() ? "%a1" : "%r1") + "]";
  };
  const auto add = [&](const std::string& body, std::function<Results(u32 t)> want) {
    Program p;
    p.body = setup + "@!%go bra SKIP;\n" + body + "SKIP:\n";
    p.want = [want](u32 t) { return active(t) ? want(t) : kNothing; };
    all.push_back(p);
  };
  const std::vector<std::string> own = {"", ".shared", ".shared::cta"},
                                 any = {"", ".shared", ".shared::cta", ".shared::cluster"},
                                 released_or_not = {"", ".release.cta", ".release.cluster", ".relaxed.cta",
                                                    ".relaxed.cluster"};
  u32 k = 0;
  // Three arrivals; the state before each says how many are pending; then the phase has changed.
  for (const auto& words : covering({released_or_not,
                                     {""},
                                     any,
                                     {"", ".acquire.cta", ".acquire.cluster", ".relaxed.cta", ".relaxed.cluster"},
                                     own})) {
    const std::string ordered = words[0], tested = words[3], to = at(words[2], k++);
    const bool far = words[2] == ".shared::cluster";
    const std::string first = far ? "_" : "%a2", second = far ? "_" : "%a3";
    add("mbarrier.init" + words[4] + ".b64 " + at(words[4], k) + ", 3;\nmbarrier.arrive" + ordered + words[2] +
            ".b64 " + first + ", " + to + ";\n" +
            (far ? "mbarrier.arrive.b64 %a2, [%a1]; mov.b64 %a3, %a2;\n" : "mbarrier.arrive.b64 %a3, [%a1];\n") +
            "mbarrier.test_wait" + tested + words[4] + ".b64 %p1, " + at(words[4], k) +
            ", %a3; mbarrier.pending_count.b64 %r2, %a2;\n" + "mbarrier.arrive" + ordered + words[2] + ".b64 _, " + to +
            ";\n" + "mbarrier.test_wait" + tested + words[4] + ".b64 %p2, " + at(words[4], k) +
            ", %a3; mbarrier.test_wait.parity" + tested + words[4] + ".b64 %p3, " + at(words[4], k) +
            ", 0; mbarrier.test_wait.parity" + tested + words[4] + ".b64 %p4, " + at(words[4], k) + ", 1;\n" +
            "mbarrier.try_wait" + tested + words[4] + ".b64 %p5, " + at(words[4], k) +
            ", %a3; mbarrier.try_wait.parity" + tested + words[4] + ".b64 %p6, " + at(words[4], k) + ", 0, 100;\n" +
            "cvt.u64.u32 %d0, %r2; selp.u64 %d1, 1, 0, %p1; selp.u64 %a4, 2, 0, %p2; or.b64 %d1, %d1, %a4; selp.u64 "
            "%a4, 4, 0, %p3; or.b64 %d1, %d1, %a4; selp.u64 %a4, 8, 0, %p4; or.b64 %d1, %d1, %a4;\n" +
            "selp.u64 %a4, 16, 0, %p5; or.b64 %d1, %d1, %a4; selp.u64 %a4, 32, 0, %p6; or.b64 %d1, %d1, "
            "%a4;\nmbarrier.inval" +
            words[4] + ".b64 " + at(words[4], k) + ";\n",
        [far](u32) { return Results{far ? 2u : 3u, 2 | 4 | 16 | 32, kUntouched, kUntouched}; });
  }
  // Counts: several arrivals at once, without completing, and threads that come no more.
  for (const auto& words : covering({released_or_not, {""}, any, own})) {
    const std::string ordered = words[0], released = words[0].rfind(".release", 0) == 0 ? ".release.cta" : "",
                      to = at(words[2], k++), mine = at(words[3], k);
    add("mbarrier.init" + words[3] + ".b64 " + mine + ", 9;\nmbarrier.arrive" + ordered + words[2] + ".b64 _, " + to +
            ", 2;\nmbarrier.arrive.noComplete" + released + words[3] + ".b64 %a2, " + mine +
            ", 3;\nmbarrier.pending_count.b64 %r2, %a2;\nmbarrier.arrive_drop" + ordered + words[2] + ".b64 _, " + to +
            ", 1;\nmbarrier.arrive_drop.noComplete" + released + words[3] + ".b64 %a3, " + mine +
            ", 1;\nmbarrier.pending_count.b64 %r3, %a3;\n" + "mbarrier.arrive_drop" + ordered + words[2] + ".b64 _, " +
            to +
            ";\nmbarrier.test_wait.parity.b64 %p1, [%a1], 0; mbarrier.arrive.b64 _, [%a1]; "
            "mbarrier.test_wait.parity.b64 %p2, [%a1], 0;\n" +
            // Six are left of nine: the next phase.
            "mbarrier.arrive.b64 %a4, [%a1], 5; mbarrier.pending_count.b64 %r4, %a4; mbarrier.test_wait.parity.b64 "
            "%p3, [%a1], 1; mbarrier.arrive.b64 _, [%a1]; mbarrier.test_wait.parity.b64 %p4, [%a1], 1;\n"
            "cvt.u64.u32 %d0, %r2; cvt.u64.u32 %d1, %r3; cvt.u64.u32 %d2, %r4; selp.u64 %d3, 1, 0, %p1; selp.u64 %a4, "
            "2, 0, %p2; or.b64 %d3, %d3, %a4; selp.u64 %a4, 4, 0, %p3; or.b64 %d3, %d3, %a4; selp.u64 %a4, 8, 0, %p4; "
            "or.b64 %d3, %d3, "
            "%a4;\n",
        [](u32) { return Results{7, 3, 6, 2 | 8}; });
  }
  // Bytes that are awaited: the phase ends when they have come, too.
  for (const auto& words : covering({released_or_not, {""}, any, {"", ".relaxed.cta", ".relaxed.cluster"}})) {
    const std::string ordered = words[0], relaxed = words[3], to = at(words[2], k++);
    add("mbarrier.init.b64 [%a1], 3;\nmbarrier.expect_tx" + relaxed + words[2] + ".b64 " + to +
            ", 64;\nmbarrier.arrive.expect_tx" + ordered + words[2] + ".b64 _, " + to +
            ", 16;\nmbarrier.arrive_drop.expect_tx" + ordered + words[2] + ".b64 _, " + to +
            ", 16;\nmbarrier.arrive.b64 _, [%a1];\nmbarrier.test_wait.parity.b64 %p1, [%a1], 0;\nmbarrier.complete_tx" +
            relaxed + words[2] + ".b64 " + to +
            ", 64;\nmbarrier.test_wait.parity.b64 %p2, [%a1], 0;\nmbarrier.complete_tx" + relaxed + words[2] + ".b64 " +
            to + ", 32;\nmbarrier.test_wait.parity.b64 %p3, [%a1], 0;\n" +
            "selp.u64 %d0, 1, 0, %p1; selp.u64 %d1, 1, 0, %p2; selp.u64 %d2, 1, 0, %p3;\nmbarrier.arrive.b64 %a2, "
            "[%a1], 1; mbarrier.pending_count.b64 %r2, %a2; cvt.u64.u32 %d3, %r2;\n",
        [](u32) { return Results{0, 0, 1, 2}; });
  }
  return all;
}

// Copies beside the threads: a thread's 64 bytes from global to shared memory, and back.
inline Programs copy_cases() {
  Programs all;
  const std::string setup =
      "mov.u32 %r1, spare; shl.b32 %r0, %t, 6; add.u32 %r1, %r1, %r0; cvt.u64.u32 %a1, %r1; cvta.shared.u64 %a2, "
      "%a1;\nmov.b64 %a3, 0; st.shared.v2.b64 [%r1], {%a3, %a3}; st.shared.v2.b64 [%r1+16], {%a3, %a3};\n" +
      std::string(kPolicy);
  const std::string back = "ld.shared.v2.b64 {%d0, %d1}, [%r1]; ld.shared.v2.b64 {%d2, %d3}, [%r1+16];\n";
  const auto add = [&](const std::string& body, std::function<Results(u32 t)> want, const std::string& results) {
    Program p;
    p.body = setup + "@!%go bra SKIP;\n" + body + results + "SKIP:\n";
    p.want = [want](u32 t) { return active(t) ? want(t) : kNothing; };
    all.push_back(p);
  };
  u32 k = 0;
  for (const bool hint : {false, true}) {
    for (const std::string cache : {"ca", "cg"}) {
      for (const auto& words : covering({{".shared", ".shared::cta"},
                                         {"", ".L2::64B", ".L2::128B", ".L2::256B"},
                                         {"4", "8", "16"},
                                         {"all", "size", "ignore", "keep"}})) {
        const u32 size = cache == "cg" ? 16 : u32(std::stoul(words[2])), mode = k % 4;
        const std::string wait =
            k++ % 3 == 0 ? "cp.async.wait_all;\n" : "cp.async.commit_group;\ncp.async.wait_group 0;\n";
        const u32 taken = mode == 1 ? size / 2 : mode == 2 ? 0 : size;
        const std::string more = mode == 1 ? ", " + number(taken) : mode == 2 ? ", %p1" : mode == 3 ? ", %p2" : "";
        add(
            "setp.eq.u32 %p1, 0, 0; setp.ne.u32 %p2, 0, 0;\ncp.async." + cache + words[0] + ".global" +
                (hint ? ".L2::cache_hint" : "") + words[1] + " [%r1], [%in+16], " + number(size) + more +
                (hint ? ", %a9" : "") + ";\n" + wait,
            [=](u32 t) {
              Words w{};
              const Words from = words_of(t);
              for (u32 b = 0; b < taken; ++b) w = with_bytes(w, b, bytes_at(from, 16 + b, 1), 1);
              return Results{w[0], w[1], w[2], w[3]};
            },
            back);
      }
    }
  }
  // Waits for the oldest two of three groups.
  add(
      "cp.async.ca.shared.global [%r1], [%in], 8;\ncp.async.commit_group;\ncp.async.ca.shared.global [%r1+8], [%in+8], "
      "8;\ncp.async.commit_group;\ncp.async.ca.shared.global [%r1+16], [%in+16], 8;\ncp.async.commit_group;\n"
      "cp.async.wait_group 1;\nld.shared.v2.b64 {%d0, %d1}, [%r1];\ncp.async.wait_group 0;\nld.shared.v2.b64 {%d2, "
      "%d3}, [%r1+16];\n",
      [](u32 t) { return Results{word(t, 0), word(t, 1), word(t, 2), 0}; }, "");
  // An mbarrier is signaled when the earlier copies are complete.
  for (const std::string space : {"", ".shared", ".shared::cta"}) {
    for (const bool noinc : {false, true}) {
      const std::string at = space.empty() ? "[%a2+56]" : "[%r1+56]";
      add(
          "mbarrier.init.shared.b64 [%r1+56], " + std::string(noinc ? "2" : "1") +
              ";\ncp.async.ca.shared.global [%r1], [%in], 16;\ncp.async.mbarrier.arrive" + (noinc ? ".noinc" : "") +
              space + ".b64 " + at +
              ";\nmbarrier.arrive.shared.b64 %a4, [%r1+56];\nAGAIN:\nmbarrier.test_wait.shared.b64 %p1, [%r1+56], %a4; "
              "@!%p1 bra AGAIN;\n",
          [](u32 t) { return Results{word(t, 0), word(t, 1), 0, 0}; }, back);
    }
  }
  // Bulk copies, 16 bytes and more at a time; `all_words` is not needed at that time, and the barrier follows
  // the bytes.
  const std::string barrier =
                        "mbarrier.init.shared.b64 [%r1+56], 1; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 "
                        "_, [%r1+56], 32;\n",
                    wait = "AGAIN:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r1+56], 0; @!%p1 bra AGAIN;\n",
                    done = ".mbarrier::complete_tx::bytes ";
  const auto first_words = [](u32 t) { return Results{word(t, 2), word(t, 3), word(t, 4), word(t, 5)}; };
  for (const bool hint : {false, true}) {
    for (const std::string space : {"shared::cluster", "shared::cta"}) {
      add(barrier + "cp.async.bulk." + space + ".global.mbarrier::complete_tx::bytes" +
              (hint ? ".L2::cache_hint" : "") + " [%r1], [%in+16], 32, [%r1+56]" + (hint ? ", %a9" : "") + ";\n" + wait,
          first_words, back);
    }
  }
  add(barrier + "cp.async.bulk.shared::cluster.shared::cta" + done + "[%r1], [%s+16], 32, [%r1+56];\n" + wait,
      first_words, back);
  all.back().in_cluster = true;
  add(barrier +
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%in+16], 32, "
          "[%r1+56], 1;\n" +
          wait,
      first_words, back);
  add(barrier +
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r1], "
          "[%in+16], 32, [%r1+56], 1, %a9;\n" +
          wait,
      first_words, back);
  add(
      "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%in], 64, %a9;\nld.global.b64 %d0, [%in];\n",
      [](u32 t) { return Results{word(t, 0), kUntouched, kUntouched, kUntouched}; }, "");
  for (const bool hint : {false, true}) {
    for (const std::string read : {"", ".read"}) {
      add(
          "fence.proxy.async;\ncp.async.bulk.global.shared::cta.bulk_group" +
              std::string(hint ? ".L2::cache_hint" : "") + " [%mine+32], [%s], 32" + (hint ? ", %a9" : "") +
              ";\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group" + read + " 0;\ncp.async.bulk.wait_group 0;\n",
          [](u32 t) { return Results{word(t, 0), word(t, 1), word(t, 2), word(t, 3)}; },
          "ld.global.v2.b64 {%d0, %d1}, [%mine+32]; ld.global.v2.b64 {%d2, %d3}, [%mine+48];\n");
    }
  }
  add(
      "cp.async.bulk.prefetch.L2.global [%in], 64;\nld.global.b64 %d0, [%in];\n",
      [](u32 t) { return Results{word(t, 0), kUntouched, kUntouched, kUntouched}; }, "");
  return all;
}

}  // namespace instructions
