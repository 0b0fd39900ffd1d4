#pragma once

#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/ir/op.h"

/// An SSA graph of typed operations over named inputs and parameters.
///
///     Graph graph(ops);
///     Value x = graph.add_input("x", {DType::f32, {Dim::of_symbol('B'), 4}});
///     Value w = graph.add_parameter("w", {DType::f32, {2, 4}}, ParameterRole::weight, /*trainable=*/true);
///     graph.set_output("y", graph.add("linear", {x, w}, {}, "y"));
///
/// A pass walks over the graph, redirects users and erases nodes without users (docs/developers/adding-a-pass.md):
///
///     for (Node* dropout : graph.operations("dropout")) {
///       graph.replace_uses(dropout->result(), dropout->input(0));
///       graph.erase(*dropout);
///     }
///
/// Nodes are ordered so that every value is defined before its uses. The graph owns its nodes and keeps their user
/// lists up to date. Names are unique and keep the module path of the model.
namespace hone {

class Graph;
class Node;

/// One result of a node. Empty when `node` is null.
struct Value {
  Node* node = nullptr;
  int index = 0;

  explicit operator bool() const { return node != nullptr; }
  const Type& type() const;
  bool operator==(const Value&) const = default;
  auto operator<=>(const Value&) const = default;
};

enum class NodeKind : std::uint8_t { input, parameter, operation };

class Node {
 public:
  NodeKind kind() const { return kind_; }
  /// The record of the operation; only for operations.
  const OpDef& op() const { return *op_; }
  /// The trait of the operation with these attributes; only for operations.
  Trait trait() const;
  bool is(std::string_view op_name) const { return op_ != nullptr && op_->name == op_name; }
  const std::string& name() const { return name_; }
  const std::vector<Value>& inputs() const { return inputs_; }
  /// Returns one input, or one result.
  Value input(std::size_t index) const { return inputs_.at(index); }
  Value result(int index = 0) { return {this, index}; }
  const Attributes& attributes() const { return attributes_; }
  /// Types of the results.
  const std::vector<Type>& types() const { return types_; }
  std::vector<Type> input_types() const;
  /// One entry per use: a node that uses a value twice is listed twice.
  const std::vector<Node*>& users() const { return users_; }
  /// Only for parameters.
  bool trainable() const { return trainable_; }
  ParameterRole role() const { return role_; }

 private:
  friend class Graph;
  NodeKind kind_ = NodeKind::operation;
  const OpDef* op_ = nullptr;
  std::string name_;
  std::vector<Value> inputs_;
  Attributes attributes_;
  std::vector<Type> types_;
  std::vector<Node*> users_;
  bool trainable_ = false;
  ParameterRole role_ = ParameterRole::weight;
  std::list<std::unique_ptr<Node>>::iterator position_;
};

class Graph {
 public:
  explicit Graph(const OpTable& ops) : ops_(&ops) {}
  /// A deep copy. Values of one graph are not valid in the other.
  Graph(const Graph& other);
  Graph& operator=(const Graph& other) { return *this = Graph(other); }
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  ~Graph() = default;

  const OpTable& ops() const { return *ops_; }
  const std::list<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  /// Returns the node with this name, or null.
  Node* find(std::string_view name) const;
  /// Returns the nodes of this kind, in order.
  std::vector<Node*> of_kind(NodeKind kind) const;
  /// Returns the operations with this name, in order. The result is a copy, so a loop over it may add and erase nodes.
  std::vector<Node*> operations(std::string_view op) const;

  /// Adds an input or a parameter after the last one, or before the parameter `before`. Throws `UserError` if the name
  /// is taken.
  Value add_input(std::string_view name, Type type);
  Value add_parameter(std::string_view name, Type type, ParameterRole role, bool trainable,
                      const Node* before = nullptr);

  /// Adds an operation before `before` (at the end if null) and infers its types. If `name` is taken, a number makes it
  /// unique; an empty name becomes the operation's name. Throws `UserError` with the node's name for an unknown
  /// operation, wrong inputs or attributes.
  Node& add_node(std::string_view op, std::vector<Value> inputs, Attributes attributes = {},
                 std::string_view name = {}, const Node* before = nullptr);
  /// The same, for operations with one result.
  Value add(std::string_view op, std::vector<Value> inputs, Attributes attributes = {},
            std::string_view name = {}, const Node* before = nullptr) {
    return {&add_node(op, std::move(inputs), std::move(attributes), name, before), 0};
  }

  /// Replaces an input of a node. Like `replace_uses`, `set_attribute` and `set_type`, it infers the types downstream
  /// again. Throws `UserError` naming the node whose inputs no longer fit, and leaves the graph unchanged.
  void set_input(Node& node, std::size_t index, Value value);
  /// Makes every use of `from`, outputs included, a use of `to`.
  void replace_uses(Value from, Value to);
  /// Sets an attribute of an operation. Also throws `UserError` for an unknown attribute or a value of the wrong kind.
  void set_attribute(Node& operation, std::string_view name, Attribute value);
  /// Sets the type of an input or a parameter.
  void set_type(Node& node, Type type);
  void set_trainable(Node& parameter, bool trainable);
  /// Replaces an operation that has one result by another one, under the same name. Throws like `add_node`, and leaves
  /// the graph unchanged.
  Node& replace_operation(Node& operation, std::string_view op, std::vector<Value> inputs,
                          Attributes attributes = {});
  /// Removes a node. Throws `UserError` with the names of its users if it has any.
  void erase(Node& node);

  /// Named results of the graph, in order. Setting a name again replaces its value.
  const std::vector<std::pair<std::string, Value>>& outputs() const { return outputs_; }
  void set_output(std::string_view name, Value value);
  void remove_output(std::string_view name);
  void clear_outputs() { outputs_.clear(); }
  Value output(std::string_view name) const;
  /// Returns whether a result of `node` is an output.
  bool is_output(const Node& node) const;
  /// Returns whether another node or an output uses a result of `node`. Unused nodes can be erased.
  bool is_read(const Node& node) const { return !node.users().empty() || is_output(node); }

 private:
  Node& insert(std::unique_ptr<Node> node, std::list<std::unique_ptr<Node>>::iterator at);
  void rewire(Node& node, std::size_t index, Value value);
  using NewTypes = std::map<const Node*, std::vector<Type>>;
  NewTypes infer_downstream(const Node& from, NewTypes types) const;
  void adopt(const NewTypes& types);
  std::string unique_name(std::string_view wanted) const;

  const OpTable* ops_;
  std::list<std::unique_ptr<Node>> nodes_;
  std::map<std::string, Node*, std::less<>> by_name_;
  std::vector<std::pair<std::string, Value>> outputs_;
};

/// Returns the given attributes of `op` completed with the defaults. Throws `UserError` for unknown, missing or
/// mistyped ones.
Attributes complete_attributes(const OpDef& op, const Attributes& given);

}  // namespace hone
