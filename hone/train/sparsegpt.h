#pragma once

#include <cstdint>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/passes/kept_elements.h"

/// SparseGPT (Frantar and Alistarh, arXiv 2301.00774, algorithm 1): removes weights column by column and updates
/// those of later columns to compensate. Works on tensors only, in double, with the same bits for any number of
/// threads.
///
/// Replacing a row w of a weight (N,K) by v changes the output of its layer for inputs X (tokens, K) by |X w - X v|²
/// = (w - v)ᵀ H (w - v), H = Xᵀ X. Once the columns before i are final, the optimal compensation of w_i = 0 is
///
///     w_j = w_j - w_i U_ij / U_ii,  j > i,     H⁻¹ = Uᵀ U,  U upper triangular
///
/// and its cost (w_i / U_ii)² is the score of a weight.
namespace hone {

/// The part of H that scores and updates need.
struct InverseFactor {
  std::int64_t columns = 0;
  std::vector<double> values;  ///< U (K,K), zeros below the diagonal
  std::vector<bool> dead;      ///< columns that were 0 for all tokens
};

/// Returns the factor of H + d I, d = `damping` times the mean of H's diagonal. `hessian` is H (K,K); only the upper
/// triangle is read. Dead columns have 1 on the diagonal. Takes K³ / 3 multiplications and additional memory of the
/// size of H.
InverseFactor inverse_factor(std::vector<double> hessian, std::int64_t columns, ThreadPool& pool,
                             double damping = 0.01);

struct CompensatedWeight {
  Tensor kept;    ///< bool (N,K)
  Tensor values;  ///< fp32 (N,K); 0 where it is not kept, and in dead columns
};

/// Chooses the elements of a weight (N,K) to keep according to `rule`, ignoring its `method`, and updates the rest. A
/// block is scored by the mean of its scores. Columns are processed in groups of 128 or somewhat fewer, which do not
/// split blocks; the choice for a group is made when all columns before it are final, with the same share in each
/// group. A pattern chooses within each of its groups of weights when all columns before that are final. Elements
/// removed earlier count, and stay removed. Throws `UserError` as `kept_elements`.
CompensatedWeight sparsegpt(const PruneRule& rule, const PrunedTensor& tensor,
                            const InverseFactor& factor, ThreadPool& pool);

}  // namespace hone
