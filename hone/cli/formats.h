#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/fields.h"

/// The JSON results of `hone formats`.
namespace hone {

struct FormatRow {
  std::string format;
  double average_bits = 0;
  std::vector<std::string> state = {};
  std::string summary;
};
const Fields& fields_of(const FormatRow*);

/// All formats.
struct FormatsFields {
  std::vector<FormatRow> formats;
};
const Fields& fields_of(const FormatsFields*);

struct FormatParameterRow {
  std::string parameter;
  Json default_value = nullptr;
  std::optional<std::int64_t> minimum = {}, maximum = {};
  std::vector<std::string> words = {};
  std::string summary;
};
const Fields& fields_of(const FormatParameterRow*);

/// One format.
struct FormatFields {
  std::string format, summary, source;
  std::vector<FormatParameterRow> parameters = {};
  double average_bits = 0;
  std::vector<float> values = {}, unwritten_values = {};
  bool passes_tiny_values = false;
  float lowest = 0, highest = 0, smallest_step = 0;
  std::string gradient;
  std::vector<std::string> kernels = {};
  bool packed = false;
  std::optional<std::string> native_input = {};
  std::vector<std::string> exporters = {};
};
const Fields& fields_of(const FormatFields*);

struct QuantizedNumberRow {
  Json number = nullptr, becomes = nullptr;
  bool saturates = false;
  std::optional<double> error = {};
  std::string code;
  std::optional<std::string> shared = {};
  std::vector<std::string> parts = {};
};
const Fields& fields_of(const QuantizedNumberRow*);

/// Numbers in a format.
struct QuantizedNumbersFields {
  std::string format, sharing;
  std::vector<std::pair<std::string, std::vector<float>>> calibrated = {};
  std::vector<QuantizedNumberRow> numbers = {};
};
const Fields& fields_of(const QuantizedNumbersFields*);

struct QuantizedTensorRow {
  std::string tensor;
  std::vector<std::int64_t> shape = {};
  double average_bits = 0, snr_db = 0, clipped = 0, flushed = 0;
};
const Fields& fields_of(const QuantizedTensorRow*);

/// The tensors of a file in a format.
struct QuantizedTensorsFields {
  std::string format;
  std::vector<QuantizedTensorRow> tensors = {};
};
const Fields& fields_of(const QuantizedTensorsFields*);

}  // namespace hone
