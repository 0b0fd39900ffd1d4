#pragma once

#include "hone/base/thread_pool.h"

/// What this machine can do at best, measured: the denominator of "share of peak" in reports and
/// benchmarks.
namespace hone::kernels {

/// Fused multiply-adds on registers alone, on all threads of the pool, in 10^9 operations per
/// second (a multiply-add is two). The best of several runs in a quarter of a second.
/// Beside other programs the system may leave all threads on one processor for longer than that.
double measure_fma_gflops(ThreadPool& pool);

/// The same of the sums of four products of bytes that products of integers consist of
/// (int8_product.h); every multiplication and every addition counts as one operation. The faster
/// of the two forms below.
double measure_int8_gops(ThreadPool& pool);
/// By the instruction that multiplies bytes; 0 where there is none.
double measure_int8_byte_gops(ThreadPool& pool);
/// With bytes widened to 16 bits before they are multiplied.
double measure_int8_widened_gops(ThreadPool& pool);
/// "vpdpbusd" (VNNI), "vpmaddubsw"; null where the processor, or what kernels may use of it, has none.
const char* int8_byte_instruction();

/// The same of products of bfloat16 pairs (four operations for each pair of a sum); 0 where the processor has none.
double measure_bf16_gflops(ThreadPool& pool);

/// The same of the products of signs and their sums that products of signs count (sign_product.h).
double measure_sign_gops(ThreadPool& pool);

/// A copy of 64 MiB by all threads of the pool, in 10^9 bytes per second, bytes read plus bytes
/// written. The best of several runs in a quarter of a second; takes 128 MiB of memory.
double measure_copy_gbps(ThreadPool& pool);

/// The same of reading alone: 64 MiB added up, 10^9 bytes per second.
double measure_read_gbps(ThreadPool& pool);

}  // namespace hone::kernels
