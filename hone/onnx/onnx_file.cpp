#include "hone/onnx/onnx_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <onnx/onnx_pb.h>

#include "hone/base/error.h"

namespace hone {
namespace {

using google::protobuf::internal::WireFormatLite;

// External constants start at multiples of this, so that programs can map them.
constexpr std::uint64_t kAlignment = 4096;
// Smaller constants stay in the file, because programs read sizes and axes before weights.
constexpr std::uint64_t kSmallestOutside = 1024;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Returns the tag and length that precede the bytes of a field.
std::string field_prefix(int field, std::uint64_t length) {
  std::string prefix;
  {
    google::protobuf::io::StringOutputStream stream(&prefix);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteTag(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
    out.WriteVarint64(length);
  }
  return prefix;
}

std::string dimension_name(char symbol) {
  switch (symbol) {
    case 'B':
      return "batch";
    case 'S':
      return "sequence";
    default:
      return {symbol};
  }
}

void fill(onnx::ValueInfoProto& to, const OnnxValue& value) {
  to.set_name(value.name);
  onnx::TypeProto_Tensor& type = *to.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int>(value.type));
  onnx::TensorShapeProto& shape = *type.mutable_shape();
  for (const Dim& dim : value.shape) {
    if (dim.symbol == 0) {
      shape.add_dim()->set_dim_value(dim.size);
    } else {
      shape.add_dim()->set_dim_param(dimension_name(dim.symbol));
    }
  }
}

void fill(onnx::AttributeProto& to, const std::string& name, const OnnxAttribute& value) {
  to.set_name(name);
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(*number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    to.set_type(onnx::AttributeProto::FLOAT);
    to.set_f(static_cast<float>(*real));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    to.set_type(onnx::AttributeProto::STRING);
    to.set_s(*text);
  } else {
    to.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t one : std::get<std::vector<std::int64_t>>(value)) to.add_ints(one);
  }
}

void fill(onnx::NodeProto& to, const OnnxNode& node) {
  to.set_name(node.name);
  to.set_op_type(node.op);
  for (const std::string& input : node.inputs) to.add_input(input);
  for (const std::string& output : node.outputs) to.add_output(output);
  for (const auto& [name, value] : node.attributes) fill(*to.add_attribute(), name, value);
}

// Returns the graph without its constants.
onnx::GraphProto graph_without_constants(const OnnxModel& model) {
  onnx::GraphProto graph;
  graph.set_name(model.name);
  for (const OnnxNode& node : model.nodes) fill(*graph.add_node(), node);
  for (const OnnxValue& value : model.inputs) fill(*graph.add_input(), value);
  for (const OnnxValue& value : model.outputs) fill(*graph.add_output(), value);
  return graph;
}

// Returns the model without its graph.
onnx::ModelProto model_without_graph(const OnnxModel& model) {
  onnx::ModelProto file;
  file.set_ir_version(onnx_ir_version(model.opset));
  file.set_producer_name("hone");
  file.add_opset_import()->set_version(model.opset);
  for (const auto& [key, value] : model.metadata) {
    onnx::StringStringEntryProto& entry = *file.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  return file;
}

onnx::TensorProto header_of(const OnnxConstant& constant) {
  onnx::TensorProto header;
  header.set_name(constant.name);
  header.set_data_type(static_cast<int>(constant.type));
  for (const std::int64_t size : constant.sizes) header.add_dims(size);
  return header;
}

void send(const OnnxConstant& constant, const ByteSink& sink) {
  std::uint64_t sent = 0;
  constant.write([&](std::span<const std::byte> bytes) {
    sent += bytes.size();
    sink(bytes);
  });
  HONE_ASSERT(sent == constant.bytes, "{}: {} bytes instead of {}", constant.name, sent,
              constant.bytes);
}

// A constant in the file.
struct Entry {
  const OnnxConstant* constant;
  bool is_outside = false;
  std::string front = {};     // its message up to the elements
  std::uint64_t message = 0;  // its size, including elements in the file

  std::string prefix() const {
    return field_prefix(onnx::GraphProto::kInitializerFieldNumber, message);
  }
};

Entry inside(const OnnxConstant& constant) {
  Entry entry{&constant};
  entry.front = header_of(constant).SerializeAsString() +
                field_prefix(onnx::TensorProto::kRawDataFieldNumber, constant.bytes);
  entry.message = entry.front.size() + constant.bytes;
  return entry;
}

Entry outside(const OnnxConstant& constant, const std::string& file, std::uint64_t offset) {
  onnx::TensorProto header = header_of(constant);
  header.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    onnx::StringStringEntryProto& entry = *header.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", file);
  add("offset", std::to_string(offset));
  add("length", std::to_string(constant.bytes));
  Entry entry{&constant, true, header.SerializeAsString()};
  entry.message = entry.front.size();
  return entry;
}

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

void write_outside(const std::vector<Entry>& entries, const fs::path& path) {
  write_file(path, [&](const ByteSink& sink) {
    std::uint64_t offset = 0;
    for (const Entry& entry : entries) {
      if (!entry.is_outside) continue;
      sink(bytes_of(std::string(aligned(offset) - offset, '\0')));
      send(*entry.constant, sink);
      offset = aligned(offset) + entry.constant->bytes;
    }
  });
}

}  // namespace

fs::path data_file_of(const fs::path& path) { return fs::path(path).concat(".data"); }

int onnx_ir_version(int opset) {
  // https://github.com/onnx/onnx/blob/main/docs/Versioning.md
  if (opset <= 18) return 8;
  if (opset <= 20) return 9;
  return opset <= 22 ? 10 : 11;
}

std::uint64_t onnx_bytes(OnnxType type, std::int64_t count) {
  const auto elements = static_cast<std::uint64_t>(count);
  switch (type) {
    case OnnxType::i64:
      return 8 * elements;
    case OnnxType::f32:
      return 4 * elements;
    case OnnxType::f16:
    case OnnxType::bf16:
      return 2 * elements;
    case OnnxType::u4:
    case OnnxType::i4:
      return (elements + 1) / 2;
    case OnnxType::u8:
    case OnnxType::i8:
    case OnnxType::f8:
    case OnnxType::boolean:
      break;
  }
  return elements;
}

std::vector<std::pair<fs::path, std::uint64_t>> write_onnx(const OnnxModel& model,
                                                           const fs::path& path,
                                                           const OnnxFileOptions& options) {
  const std::string head = model_without_graph(model).SerializeAsString();
  const std::string graph = graph_without_constants(model).SerializeAsString();
  std::vector<Entry> entries;
  const auto graph_bytes = [&] {
    std::uint64_t bytes = graph.size();
    for (const Entry& entry : entries) bytes += entry.prefix().size() + entry.message;
    return bytes;
  };
  for (const OnnxConstant& constant : model.constants) entries.push_back(inside(constant));
  std::vector<std::pair<fs::path, std::uint64_t>> written;
  if (head.size() + graph_bytes() > options.largest_file) {
    const fs::path data = data_file_of(path);
    std::uint64_t offset = 0;
    for (Entry& entry : entries) {
      if (entry.constant->bytes < kSmallestOutside) continue;
      offset = aligned(offset);
      entry = outside(*entry.constant, data.filename().string(), offset);
      offset += entry.constant->bytes;
    }
    write_outside(entries, data);
    written.emplace_back(data, offset);
  }
  const std::string graph_prefix = field_prefix(onnx::ModelProto::kGraphFieldNumber, graph_bytes());
  write_file(path, [&](const ByteSink& sink) {
    for (const std::string* part : {&head, &graph_prefix, &graph}) sink(bytes_of(*part));
    for (const Entry& entry : entries) {
      sink(bytes_of(entry.prefix()));
      sink(bytes_of(entry.front));
      if (!entry.is_outside) send(*entry.constant, sink);
    }
  });
  written.emplace(written.begin(), path, head.size() + graph_prefix.size() + graph_bytes());
  return written;
}

}  // namespace hone
