#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// How much examples say that are not all different.
namespace hone {

/// The number of different examples that say as much as these, divided by their number (Kish 1965, Survey Sampling, the
/// design effect of unequal weights):
///
///     evidence = (Σ m)² / (n Σ m²),   m: in how many rows each text stands, Σ m = n
///
/// A model gives one text one answer however often it stands there, so its rows are one observation of weight m. 1 where
/// no text repeats; 1/3 where each stands three times. `texts` holds for each example the number of its text, which is
/// below n; empty: all differ.
double evidence(std::span<const std::int32_t> texts);

/// The same for readers of results.
inline constexpr std::string_view kEffectiveSizeMeaning =
    "Effective n: a model gives equal texts one prediction, so the rows of a text are one "
    "observation whose weight is their number m, and n rows say as much as n² / Σ m² different "
    "texts (Kish's effective sample size). A text in several rows therefore costs more than its "
    "repeats.";

/// n times its evidence, rounded: the effective sample size.
std::int64_t effective_examples(std::int64_t examples, double evidence);

/// Whether the effective size is below the number of examples by more than 5%. Less than that is not worth a reader's time.
bool is_notably_less(std::int64_t effective, std::int64_t examples);

/// "n = 1,072"; with notably fewer effective ones: "n = 1,072 (effective 850)".
std::string sample_size_text(std::int64_t examples, std::int64_t effective);

/// What a figure stands on: "validation, n = 1,072". What it is to be read with stands behind: "test, n = 400, 80 trained
/// on".
std::string part_text(const std::string& part, std::int64_t examples, std::int64_t effective,
                      std::span<const std::string> cautions = {});

}  // namespace hone
