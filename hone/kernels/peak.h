#pragma once

#include "hone/base/thread_pool.h"

/// Measured peak performance of this machine: the denominator of "share of peak" in reports and benchmarks.
namespace hone::kernels {

/// Measures fused multiply-adds in registers on all threads of the pool, in 10^9 operations per second (a multiply-add
/// is two). Returns the best of several runs in a quarter of a second. If other programs run, the system may keep all
/// threads on one core for longer than that.
double measure_fma_gflops(ThreadPool& pool);

/// The same for sums of four products of bytes, as in products of integers (int8_product.h). Every multiplication and
/// every addition is one operation. Returns the faster of the two forms below.
double measure_int8_gops(ThreadPool& pool);
/// Measures them with the instruction that multiplies bytes; 0 if there is none.
double measure_int8_byte_gops(ThreadPool& pool);
/// Measures them with bytes widened to 16 bits before they are multiplied.
double measure_int8_widened_gops(ThreadPool& pool);
/// Returns "vpdpbusd" (VNNI) or "vpmaddubsw"; null if the CPU has none or kernels may not use it.
const char* int8_byte_instruction();

/// The same for products of bfloat16 pairs (four operations per pair); 0 if the CPU has none.
double measure_bf16_gflops(ThreadPool& pool);

/// The same for products of signs and their sums, which are computed by counting bits (sign_product.h).
double measure_sign_gops(ThreadPool& pool);

/// Measures a copy of 64 MiB by all threads of the pool, in 10^9 bytes per second, bytes read plus bytes written.
/// Returns the best of several runs in a quarter of a second; uses 128 MiB of memory.
double measure_copy_gbps(ThreadPool& pool);

/// The same for reading alone: sums 256 MiB.
double measure_read_gbps(ThreadPool& pool);

}  // namespace hone::kernels
