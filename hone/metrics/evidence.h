#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// The information in examples that are not all different.
namespace hone {

/// Returns the number of different examples with as much information as these, divided by their number (Kish 1965,
/// Survey Sampling, the design effect of unequal weights):
///
///     evidence = (Σ m)² / (n Σ m²),   m: the number of rows of each text, Σ m = n
///
/// A model makes one prediction for a text, however often it occurs, so its rows are one observation of weight m. 1 if
/// no text repeats; 1/3 if each occurs three times. `texts` has the number of each example's text, below n; empty: all
/// differ.
double evidence(std::span<const std::int32_t> texts);

/// The same for readers of results.
inline constexpr std::string_view kEffectiveSizeMeaning =
    "Effective n: a model gives equal texts one prediction, so the rows of a text are one "
    "observation whose weight is their number m, and n rows say as much as n² / Σ m² different "
    "texts (Kish's effective sample size). A text in several rows therefore costs more than its "
    "repeats.";

/// Returns n times its evidence, rounded: the effective sample size.
std::int64_t effective_examples(std::int64_t examples, double evidence);

/// Returns whether the effective size is more than 5% below the number of examples. Smaller differences are not worth
/// showing.
bool is_notably_less(std::int64_t effective, std::int64_t examples);

/// Returns "n = 1,072"; with notably fewer effective examples "n = 1,072 (effective 850)".
std::string sample_size_text(std::int64_t examples, std::int64_t effective);

/// Returns the split and sample size of a metric: "validation, n = 1,072". The cautions follow: "test, n = 400, 80
/// trained on".
std::string split_text(const std::string& split, std::int64_t examples, std::int64_t effective,
                       std::span<const std::string> cautions = {});

}  // namespace hone
