#pragma once

#include <cstdint>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/passes/kept_elements.h"

/// SparseGPT (Frantar and Alistarh, arXiv 2301.00774, algorithm 1): one weight after the other goes, and those of later columns
/// make up for it. By numbers alone, no graph in sight; in double, with the same bits for any number of threads.
///
/// A row w of a weight (N,K) that becomes v changes what its layer gives for inputs X (tokens, K) by |X w - X v|²
/// = (w - v)ᵀ H (w - v), H = Xᵀ X. Once the columns before i are settled, w_i = 0 is made up for best by
///
///     w_j = w_j - w_i U_ij / U_ii,  j > i,     H⁻¹ = Uᵀ U,  U upper triangular
///
/// which costs (w_i / U_ii)²: that is the score of a weight.
namespace hone {

/// What scores and updates need of H.
struct InverseFactor {
  std::int64_t columns = 0;
  std::vector<double> values;  ///< U (K,K), zeros below the diagonal
  std::vector<bool> dead;      ///< columns that were 0 for all tokens
};

/// Returns the factor of H + d I, d = `damping` times the mean of H's diagonal. `hessian` is H (K,K), of which the upper triangle
/// is read. Dead columns have 1 on the diagonal. Takes K³ / 3 multiplications and as much memory again.
InverseFactor inverse_factor(std::vector<double> hessian, std::int64_t columns, ThreadPool& pool,
                             double damping = 0.01);

struct CompensatedWeight {
  Tensor kept;    ///< bool (N,K)
  Tensor values;  ///< fp32 (N,K); 0 where it is not kept, and in dead columns
};

/// Chooses what is kept of a weight (N,K) as `rule` says, whose `method` is ignored, and updates the rest. Of blocks the mean of the
/// scores decides. Columns are settled in groups of 128 or somewhat fewer, none of which cuts a block; what goes of a group is chosen
/// when all columns before it are settled, the same share of each group. A pattern chooses in each group of weights when all
/// columns before that are settled. What was gone before stays so, counts, and is not brought back by updates. Throws `UserError`
/// as `kept_elements`.
CompensatedWeight sparsegpt(const PruneRule& rule, const PrunedTensor& tensor,
                            const InverseFactor& factor, ThreadPool& pool);

}  // namespace hone
