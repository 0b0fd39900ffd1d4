// Sums of products of bytes in registers, to measure the peak throughput of a CPU. Textually included once for every
// policy `Dot` of int8_dot-inl.h, like int8_tile-inl.h.

// Hides the weights from the optimizer without changing them.
HWY_INLINE void hide_from_optimizer(Dot::Right& right) { asm("" : "+v"(right.raw)); }

template <class D = Dot>
HWY_INLINE typename D::Sum add_quads(typename D::Right& right, const typename D::Left& left,
                                     typename D::Sum sum) {
  if constexpr (D::kJoins) {
    auto joined = D::multiply(right, left);
#pragma GCC unroll 8
    for (int quad = 1; quad < D::kTogether; ++quad) {
      hide_from_optimizer(right);
      joined = D::join(joined, D::multiply(right, left));
    }
    return D::fold(joined, sum);
  } else {
    sum = D::template dot<0>(right, left, sum);
    if constexpr (D::kParts == 2) sum = D::template dot<1>(right, left, sum);
    return sum;
  }
}

// Runs `rounds` rounds on each of kChains vectors. `start`, about 1, must be unknown to the compiler and the sum is
// returned, so nothing is optimized away. Sets `operations` to the number of multiplications and additions.
inline float run_dots(std::int64_t rounds, float start, double* operations) {
  const Dot::Sums d;
  const hn::Repartition<std::uint8_t, Dot::Sums> bytes;
  const auto begin = static_cast<std::int32_t>(start);
  auto right = Dot::template right<0>(hn::Set(bytes, static_cast<std::uint8_t>(begin)));
  Dot::Left left{};
  std::memset(&left, begin, sizeof(left));
  Dot::Sum chain[kChains];
#pragma GCC unroll 12
  for (std::int64_t i = 0; i < kChains; ++i)
    chain[i] = hn::Set(d, begin + static_cast<std::int32_t>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (std::int64_t i = 0; i < kChains; ++i) {
      hide_from_optimizer(right);
      chain[i] = add_quads(right, left, chain[i]);
    }
  }
  auto sum = hn::Zero(d);
#pragma GCC unroll 12
  for (std::int64_t i = 0; i < kChains; ++i) sum = hn::Add(sum, chain[i]);
  *operations = 8.0 * Dot::kTogether * static_cast<double>(rounds * kChains) *
                static_cast<double>(hn::Lanes(d));
  // Sums of 32 bits would overflow.
  const hn::Repartition<float, Dot::Sums> floats;
  return hn::GetLane(hn::SumOfLanes(floats, hn::ConvertTo(floats, sum)));
}
