#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/tensor/tensor.h"

/// Training without padding: the texts of a batch are concatenated, so that only real tokens are computed. Only
/// attention, positions, dropout and readers of the first token depend on where a text begins.
///
///     const std::optional<TextLayout> layout = remove_padding(graph);
///     executable->run(layout ? without_padding(batch, *layout) : batch, parameters);
namespace hone {

/// Layout of the texts that a graph without padding reads.
struct TextLayout {
  std::int64_t limit = 0;           ///< positions per text for dropout; 0: no `places` needed
  std::int64_t first_position = 0;  ///< position of a text's first token
  std::int64_t token_step = 1;      ///< T is a multiple of this
  /// If set, positions are counted as by the operation `token_positions` with this padding id.
  std::optional<std::int64_t> position_padding = {};
};

/// Changes a forward graph with the inputs `input_ids` and `attention_mask` (B, S) so that it reads all T tokens of a
/// batch without padding. Its inputs are then `input_ids`, other inputs per token and `positions` (1, T),
/// `text_begins` and `text_lengths` (B), and, if dropout needs them, `places` (1, T). Values of texts and of the
/// batch are bit-identical to those with padding; gradients are sums of the same terms, except those of padding,
/// which are zero. Attentions must be single operations (`fuse_attention`).
///
/// With a `token_step` above 1, tokens may be appended after the last text so that batches have few different T.
/// Their values do not affect results.
///
/// Returns nothing and leaves the graph unchanged if an operation reads all tokens of a padded text at once: formats
/// that round a tensor by all its values, pooling, or tasks that do not classify whole texts. `why`, if given,
/// receives the reason.
std::optional<TextLayout> remove_padding(Graph& graph, std::int64_t token_step = 1,
                                         std::string* why = nullptr);

/// Prepares a graph with a loss for its gradients: slices are computed before the operations whose results they slice
/// (`hoist_slices_before_gradients`), attentions are single operations, and padding is removed if possible.
std::optional<TextLayout> prepare_for_gradients(Graph& graph, std::int64_t token_step = 1);
/// Prepares the graph for a session whose `values` may be bf16 (passes/autocast.h). Throws `UserError` for f16, in
/// which small gradients underflow.
std::optional<TextLayout> prepare_for_gradients(Graph& graph, const Session& session,
                                                std::int64_t token_step = 1);

/// Returns the inputs of such a graph for a padded batch, whose texts begin in the first column.
NamedTensors without_padding(NamedTensors batch, const TextLayout& layout);

/// Returns T of the largest batch: the tokens of the `texts` longest texts.
std::int64_t largest_batch_tokens(std::vector<std::int64_t> lengths, std::int64_t texts);

}  // namespace hone
