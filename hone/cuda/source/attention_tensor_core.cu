// Attention on the tensor cores of Hopper (sm_90a) without storing the weights: Shah and others, "FlashAttention-3",
// 2024.
//
// A block computes tiles of queries of one head, one after another. One warpgroup loads: queries once, keys and values
// tile by tile into rings of two stages, with the copy engine. The others compute 64 queries each: scores = Q K^T into
// registers, the running maximum and sum of their exponentials, and O += P V with the weights P from registers. Scores
// of the next tile are begun before P V of this one, so that the tensor cores have work during the exponentials. The
// warpgroups begin their products in turns, so that one computes exponentials while another multiplies.
//
// VALUE: bfloat16 or float16; DEPTH, the size of a head: 64 or 128; MASK: 1 if scores get a term per key.
#include "cstdint"

#ifndef VALUE
#define VALUE bfloat16
#endif
#ifndef DEPTH
#define DEPTH 128
#endif
#ifndef MASK
#define MASK 0
#endif

constexpr int kDepth = DEPTH;
constexpr int kKeys = 128;  // of a tile
constexpr int kWorkers = DEPTH == 64 ? 3 : 2;  // warpgroups that compute
constexpr int kRows = 64 * kWorkers;           // queries of a tile
constexpr int kThreads = 128 * (kWorkers + 1);
constexpr int kStages = 2;
constexpr int kBoxes = kDepth / 64;  // a row of 64 values is the 128 bytes that the swizzle works on
constexpr int kQueryBoxBytes = kRows * 128;
constexpr int kKeyBoxBytes = kKeys * 128;
constexpr int kTileBytes = kKeyBoxBytes * kBoxes;

// The layout of shared memory, from an address aligned to 1024.
constexpr int kQueriesAt = 0;
constexpr int kKeysAt = kQueriesAt + kQueryBoxBytes * kBoxes;
constexpr int kValuesAt = kKeysAt + kStages * kTileBytes;
constexpr int kMaskAt = kValuesAt + kStages * kTileBytes;
constexpr int kBarriersAt = kMaskAt + (MASK ? kStages * kKeys * 4 : 0);
// Barriers, 8 bytes each.
constexpr int kQueriesFull = kBarriersAt;
constexpr int kQueriesEmpty = kQueriesFull + 8;
constexpr int kKeysFull = kQueriesEmpty + 8;
constexpr int kKeysEmpty = kKeysFull + 8 * kStages;
constexpr int kValuesFull = kKeysEmpty + 8 * kStages;
constexpr int kValuesEmpty = kValuesFull + 8 * kStages;

constexpr float kLog2E = 1.4426950408889634f;
constexpr unsigned kWholeWarp = 0xffffffffu;
__forceinline__ float infinity() { return __int_as_float(0x7f800000); }

/// `CUtensorMap`.
struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

/// The same struct as in hone/cuda/tensor_core_attention.cpp.
struct Work {
  std::uint16_t* output;
  std::int64_t output_text, output_token, output_head;  // strides in elements
  const float* mask;                                    // (texts or 1, keys)
  std::int64_t mask_text;                               // its stride between texts
  int heads, queries, keys;
  int query_tiles, tiles;  // tiles of one head, and of all
  float scale;
};

// ---- barriers, copies and products: wrappers of instructions

__forceinline__ void barrier_create(std::uint32_t barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__forceinline__ void barrier_arrive_expecting(std::uint32_t barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__forceinline__ void barrier_wait(std::uint32_t barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Begins to copy a box of a tensor, whose bytes the barrier counts.
__forceinline__ void copy_box(std::uint32_t to, const TensorMap& from, std::uint32_t barrier, int column, int token,
                              int head, int text) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
      "l"(&from), "r"(barrier), "r"(column), "r"(token), "r"(head), "r"(text)
      : "memory");
}

/// Returns the lower half of the descriptor of a matrix in shared memory, to which addresses in units of 16 bytes may
/// be added; the upper half is always the same. Rows have 128 bytes, swizzled, and eight of them (1024 bytes) form a
/// block. Blocks follow one another along the rows. If columns are the free dimension, blocks side by side are
/// `leading` bytes apart.
__forceinline__ std::uint32_t matrix(std::uint32_t address, unsigned leading) {
  return address >> 4 | leading >> 4 << 16;
}
__forceinline__ std::uint64_t descriptor(std::uint32_t matrix) {
  constexpr std::uint32_t kUpper = 1024 >> 4 | 1u << 30;  // the stride of blocks; a swizzle over 128 bytes
  return std::uint64_t(kUpper) << 32 | matrix;
}

#define NUMBERS_32                                                                                                    \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "    \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define NUMBERS_64                                                                                                    \
  NUMBERS_32                                                                                                          \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "  \
  "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define PLACES_8(x, i)                                                                                                \
  "+f"(x[i]), "+f"(x[i + 1]), "+f"(x[i + 2]), "+f"(x[i + 3]), "+f"(x[i + 4]), "+f"(x[i + 5]), "+f"(x[i + 6]),         \
      "+f"(x[i + 7])
#define PLACES_32(x, i) PLACES_8(x, i), PLACES_8(x, i + 8), PLACES_8(x, i + 16), PLACES_8(x, i + 24)
#define PLACES_64(x) PLACES_32(x, 0), PLACES_32(x, 32)

#define TYPE_bfloat16 "bf16"
#define TYPE_float16 "f16"
#define TYPE_NAME(value) TYPE_##value
#define TYPE_OF(value) TYPE_NAME(value)
#define TYPE TYPE_OF(VALUE)

#define MULTIPLY_SCORES(x, q, k, add)                                                                                 \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"                                                       \
               "wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE " {" NUMBERS_64                           \
               "}, %64, %65, add, 1, 1, 0, 0;\n}"                                                                     \
               : PLACES_64(x)                                                                                         \
               : "l"(descriptor(q)), "l"(descriptor(k)), "r"(int(add)))

#if DEPTH == 64
#define MULTIPLY_OUTPUT(x, p, v, add)                                                                                 \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"                                                       \
               "wgmma.mma_async.sync.aligned.m64n64k16.f32." TYPE "." TYPE " {" NUMBERS_32                            \
               "}, {%32, %33, %34, %35}, %36, add, 1, 1, 1;\n}"                                                       \
               : PLACES_32(x, 0)                                                                                      \
               : "r"((p)[0]), "r"((p)[1]), "r"((p)[2]), "r"((p)[3]), "l"(descriptor(v)), "r"(int(add)))
#else
#define MULTIPLY_OUTPUT(x, p, v, add)                                                                                 \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"                                                       \
               "wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE " {" NUMBERS_64                           \
               "}, {%64, %65, %66, %67}, %68, add, 1, 1, 1;\n}"                                                       \
               : PLACES_64(x)                                                                                         \
               : "r"((p)[0]), "r"((p)[1]), "r"((p)[2]), "r"((p)[3]), "l"(descriptor(v)), "r"(int(add)))
#endif

/// Orders earlier accesses to registers before the products that begin from here on.
__forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__forceinline__ void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// Keeps the compiler from moving uses of these registers across this point.
template <int kCount>
__forceinline__ void hold(float (&x)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(x[i])::"memory");
}
template <int kCount>
__forceinline__ void hold(std::uint32_t (&x)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(x[i])::"memory");
}

__forceinline__ std::uint32_t packed(float low, float high) {
  std::uint32_t both;
  asm("cvt.rn." TYPE "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

__forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// ---- loading

/// Returns the number of tiles of a head's keys. All warps process them from the last, which may be partial, to the
/// first.
__forceinline__ int key_tiles(const Work& work) { return (work.keys + kKeys - 1) / kKeys; }

/// A tile of queries.
struct Place {
  int text, head, query;

  __forceinline__ Place(const Work& work, int tile) {
    const int all_heads = tile / work.query_tiles;
    query = (tile - all_heads * work.query_tiles) * kRows;
    text = all_heads / work.heads;
    head = all_heads - text * work.heads;
  }
};

/// The position in a ring: the stage, and the parity of the phase that fills it.
struct Turn {
  unsigned stage, parity;

  __forceinline__ explicit Turn(unsigned step) : stage(step % kStages), parity(step / kStages % 2) {}
};

/// Loads queries, keys and values. Runs on one thread.
__forceinline__ void load(const Work& work, const TensorMap& queries, const TensorMap& keys, const TensorMap& values,
                          std::uint32_t shared) {
  unsigned step = 0, round = 0;
  for (int tile = blockIdx.x; tile < work.tiles; tile += gridDim.x, ++round) {
    const Place place(work, tile);
    barrier_wait(shared + kQueriesEmpty, round % 2 ^ 1);
    barrier_arrive_expecting(shared + kQueriesFull, kBoxes * kQueryBoxBytes);
#pragma unroll
    for (int box = 0; box < kBoxes; ++box)
      copy_box(shared + kQueriesAt + box * kQueryBoxBytes, queries, shared + kQueriesFull, box * 64, place.query,
               place.head, place.text);
#pragma unroll 1
    for (int token = (key_tiles(work) - 1) * kKeys; token >= 0; token -= kKeys, ++step) {
      const Turn turn(step);
      const auto load_tile = [&](const TensorMap& from, int at, int full, int empty) {
        const std::uint32_t barrier = shared + full + turn.stage * 8;
        barrier_wait(shared + empty + turn.stage * 8, turn.parity ^ 1);
        barrier_arrive_expecting(barrier, kTileBytes);
#pragma unroll
        for (int box = 0; box < kBoxes; ++box)
          copy_box(shared + at + turn.stage * kTileBytes + box * kKeyBoxBytes, from, barrier, box * 64, token,
                   place.head, place.text);
      };
      load_tile(keys, kKeysAt, kKeysFull, kKeysEmpty);
      load_tile(values, kValuesAt, kValuesFull, kValuesEmpty);
    }
  }
}

#if MASK
/// Loads the mask's terms for each tile of keys, in units of log 2; -inf beyond the last key. Runs on one warp.
__forceinline__ void load_mask(const Work& work, unsigned char* memory, std::uint32_t shared) {
  const int lane = threadIdx.x % 32;
  unsigned step = 0;
  for (int tile = blockIdx.x; tile < work.tiles; tile += gridDim.x) {
    const float* const from = work.mask + Place(work, tile).text * work.mask_text;
#pragma unroll 1
    for (int token = (key_tiles(work) - 1) * kKeys; token >= 0; token -= kKeys, ++step) {
      const Turn turn(step);
      float* const to = reinterpret_cast<float*>(memory + kMaskAt) + turn.stage * kKeys;
      barrier_wait(shared + kKeysEmpty + turn.stage * 8, turn.parity ^ 1);
#pragma unroll 1
      for (int i = lane; i < kKeys; i += 32) {
        float term = -infinity();
        if (token + i < work.keys) {
          term = from[token + i];
          // The lowest finite float is a common mask value and must not become -inf.
          if (term > -infinity()) term = fmaxf(term * kLog2E, -3.4028235e38f);
        }
        to[i] = term;
      }
      barrier_arrive(shared + kKeysFull + turn.stage * 8);
    }
  }
}
#endif

// ---- computing

// A thread has two rows, `half` 0 and 1, and of every 8 columns two adjacent ones: element 4 t + 2 half + i of an array
// is column 8 t + 2 (lane % 4) + i of row lane / 4 + 8 half of its warp's 16.

/// The online softmax of a thread's two rows.
struct Rows {
  float most[2];    // the highest score
  float sum[2];     // of this thread's exponentials
  float shrink[2];  // the factor for sums of earlier tiles
};

/// Turns the scores of a tile into exponentials. `unit`: the factor of scores, in units of log 2.
template <bool kFirst>
__forceinline__ void take_exponentials(float (&scores)[kKeys / 2], Rows& rows, float unit) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    // Two dependency chains each, since one would be long.
    float most[2] = {scores[2 * half], scores[2 * half + 1]};
#pragma unroll
    for (int i = 4 + 2 * half; i < kKeys / 2; i += 4) {
      most[0] = fmaxf(most[0], scores[i]);
      most[1] = fmaxf(most[1], scores[i + 1]);
    }
    float now = fmaxf(most[0], most[1]);
    now = fmaxf(now, __shfl_xor_sync(kWholeWarp, now, 1));
    now = fmaxf(now, __shfl_xor_sync(kWholeWarp, now, 2));
    if (!kFirst) now = fmaxf(now, rows.most[half]);
    // If all keys so far are masked, all exponentials are 0.
    const float origin = (MASK && now == -infinity() ? 0 : now) * unit;
    rows.shrink[half] = kFirst ? 0 : exp2_approximate(__fmaf_rn(rows.most[half], unit, -origin));
    rows.most[half] = now;
    float sum[2] = {kFirst ? 0 : rows.sum[half] * rows.shrink[half], 0};
#pragma unroll
    for (int i = 2 * half; i < kKeys / 2; i += 4) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        scores[i + j] = exp2_approximate(__fmaf_rn(scores[i + j], unit, -origin));
        sum[j] += scores[i + j];
      }
    }
    rows.sum[half] = sum[0] + sum[1];
  }
}

/// Four threads share a row, each with two adjacent columns of every 8. They exchange values, so that each has 8
/// adjacent columns of every 32, and write them.
__forceinline__ void write_output(const Work& work, const Place& place, int row, const float (&output)[kDepth / 2],
                                  const Rows& rows) {
  const int lane = threadIdx.x % 32, quarter = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float sum = rows.sum[half];
    sum += __shfl_xor_sync(kWholeWarp, sum, 1);
    sum += __shfl_xor_sync(kWholeWarp, sum, 2);
    const float factor = 1 / sum;
    const int query = place.query + row + lane / 4 + 8 * half;
    std::uint16_t* const to = work.output + place.text * work.output_text + query * work.output_token +
                              place.head * work.output_head + quarter * 8;
#pragma unroll
    for (int t = 0; t < kDepth / 8; t += 4) {
      std::uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* const pair = &output[4 * (t + i) + 2 * half];
        words[i] = packed(pair[0] * factor, pair[1] * factor);
      }
      // A 4 by 4 matrix over four threads, transposed in two steps.
#pragma unroll
      for (int step = 1; step <= 2; step *= 2) {
        const bool upper = quarter & step;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (i & step) continue;
          const std::uint32_t got = __shfl_xor_sync(kWholeWarp, upper ? words[i] : words[i + step], step);
          (upper ? words[i] : words[i + step]) = got;
        }
      }
      if (query < work.queries)
        *reinterpret_cast<uint4*>(to + t * 8) = make_uint4(words[0], words[1], words[2], words[3]);
    }
  }
}

/// Warpgroups take turns in beginning products: a worker and its predecessor meet at barrier 1 + worker.
__forceinline__ void await_turn(int worker) {
  asm volatile("bar.sync %0, 256;" ::"r"(1 + worker) : "memory");
}
__forceinline__ void give_turn(int worker) {
  asm volatile("bar.arrive %0, 256;" ::"r"(1 + worker) : "memory");
}

/// Computes 64 of a tile's queries. Runs on one warpgroup.
__forceinline__ void compute(const Work& work, const unsigned char* memory, std::uint32_t shared, int worker) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const int next_worker = worker + 1 == kWorkers ? 0 : worker + 1;
  const float unit = work.scale * kLog2E;
  const std::uint32_t queries = matrix(shared + kQueriesAt + worker * 64 * 128, 16);
  const std::uint32_t keys = matrix(shared + kKeysAt, 16), values = matrix(shared + kValuesAt, kKeyBoxBytes);
  const int count = key_tiles(work);

  float scores[kKeys / 2];
  std::uint32_t weights[kKeys / 4];
  float output[kDepth / 2];
  Rows rows;
#pragma unroll
  for (int i = 0; i < kKeys / 2; ++i) scores[i] = 0;
#pragma unroll
  for (int i = 0; i < kDepth / 2; ++i) output[i] = 0;
#pragma unroll
  for (int i = 0; i < kKeys / 4; ++i) weights[i] = 0;

  const auto release = [&](std::uint32_t barrier) {
    if (lane == 0) barrier_arrive(barrier);
  };
  const auto begin_scores = [&](unsigned stage) {
    hold(scores);
    products_begin();
#pragma unroll
    for (int k = 0; k < kDepth / 16; ++k) {
      const int box = k / 4, column_bytes = k % 4 * 32;
      MULTIPLY_SCORES(scores, queries + (box * kQueryBoxBytes + column_bytes) / 16,
                      keys + (stage * kTileBytes + box * kKeyBoxBytes + column_bytes) / 16, k > 0);
    }
    products_commit();
  };
  const auto begin_output = [&](unsigned stage, int add) {
    hold(weights);
    hold(output);
    products_begin();
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k)
      MULTIPLY_OUTPUT(output, &weights[4 * k], values + (stage * kTileBytes + k * 16 * 128) / 16, k > 0 || add);
    products_commit();
  };
  // Adds the mask, and then releases the keys.
  const auto finish_scores = [&](unsigned stage) {
    hold(scores);
#if MASK
    const float* const terms = reinterpret_cast<const float*>(memory + kMaskAt) + stage * kKeys + lane % 4 * 2;
#pragma unroll
    for (int t = 0; t < kKeys / 8; ++t) {
      const float2 term = *reinterpret_cast<const float2*>(terms + 8 * t);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        scores[4 * t + 2 * half] = __fmaf_rn(scores[4 * t + 2 * half], unit, term.x);
        scores[4 * t + 2 * half + 1] = __fmaf_rn(scores[4 * t + 2 * half + 1], unit, term.y);
      }
    }
    __syncwarp();
#endif
    release(shared + kKeysEmpty + stage * 8);
  };
  const float score_unit = MASK ? 1 : unit;
  if (worker == kWorkers - 1) give_turn(0);
  unsigned step = 0, round = 0;  // of key tiles, and of tiles
  // Waits for the product with values, if one `runs`. Then packs the weights of the tile whose exponentials are known.
  const auto finish_output = [&](bool runs) {
    products_wait<0>();
    hold(output);
    hold(weights);
    if (runs) release(shared + kValuesEmpty + Turn(step - 1).stage * 8);
#pragma unroll
    for (int i = 0; i < kKeys / 4; ++i) weights[i] = packed(scores[2 * i], scores[2 * i + 1]);
#pragma unroll
    for (int i = 0; i < kDepth / 2; ++i) output[i] *= rows.shrink[i / 2 % 2];
  };
  for (int tile = blockIdx.x; tile < work.tiles; tile += gridDim.x, ++round) {
    const Place place(work, tile);
    barrier_wait(shared + kQueriesFull, round % 2);
    {
      const Turn turn(step);
      barrier_wait(shared + kKeysFull + turn.stage * 8, turn.parity);
      begin_scores(turn.stage);
      products_wait<0>();
      finish_scores(turn.stage);
#if !MASK
      const int here = work.keys - (count - 1) * kKeys - lane % 4 * 2;
      if (work.keys % kKeys != 0) {
#pragma unroll
        for (int i = 0; i < kKeys / 2; ++i)
          if (i / 4 * 8 + i % 2 >= here) scores[i] = -infinity();
      }
#endif
      take_exponentials<true>(scores, rows, score_unit);
    }
    // An iteration ends with exponentials while its product with values still runs. The compiler does not move them
    // across the end of a loop's body, as it would across a wait.
    for (int i = 1; i < count; ++i, ++step) {
      const Turn now(step), next(step + 1);
      finish_output(i > 1);
      barrier_wait(shared + kKeysFull + next.stage * 8, next.parity);
      barrier_wait(shared + kValuesFull + now.stage * 8, now.parity);
      await_turn(worker);
      begin_scores(next.stage);
      begin_output(now.stage, i > 1);
      give_turn(next_worker);
      products_wait<1>();
      finish_scores(next.stage);
      take_exponentials<false>(scores, rows, score_unit);
    }
    release(shared + kQueriesEmpty);
    finish_output(count > 1);
    const Turn last(step++);
    barrier_wait(shared + kValuesFull + last.stage * 8, last.parity);
    begin_output(last.stage, count > 1);
    products_wait<0>();
    hold(output);
    hold(weights);
    release(shared + kValuesEmpty + last.stage * 8);
    write_output(work, place, worker * 64 + warp * 16, output, rows);
  }
  // Consumes the last turn, which no worker has taken.
  if (worker == 0) await_turn(0);
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    attention_tensor_core(const __grid_constant__ TensorMap queries, const __grid_constant__ TensorMap keys,
                          const __grid_constant__ TensorMap values, const __grid_constant__ Work work) {
  extern __shared__ unsigned char dynamic[];
  const std::uint32_t start = static_cast<std::uint32_t>(__cvta_generic_to_shared(dynamic));
  const std::uint32_t shared = (start + 1023) / 1024 * 1024;
  unsigned char* const memory = dynamic + (shared - start);
  if (threadIdx.x == 0) {
    barrier_create(shared + kQueriesFull, 1);
    barrier_create(shared + kQueriesEmpty, 4 * kWorkers);
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_create(shared + kKeysFull + 8 * stage, MASK ? 33 : 1);
      barrier_create(shared + kKeysEmpty + 8 * stage, 4 * kWorkers);
      barrier_create(shared + kValuesFull + 8 * stage, 1);
      barrier_create(shared + kValuesEmpty + 8 * stage, 4 * kWorkers);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();

  // The shuffle lets the compiler know that the value is the same for all threads of a warp.
  const int group = __shfl_sync(kWholeWarp, threadIdx.x / 128, 0);
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kWorkers == 3 ? 32 : 24));
    if (threadIdx.x == 0) load(work, queries, keys, values, shared);
#if MASK
    if (threadIdx.x / 32 == 1) load_mask(work, memory, shared);
#endif
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kWorkers == 3 ? 160 : 240));
    compute(work, memory, shared, group - 1);
  }
}
