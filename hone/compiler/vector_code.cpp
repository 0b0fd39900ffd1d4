#include "hone/compiler/vector_code.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <map>
#include <vector>

#include "hone/base/error.h"

namespace hone::compiler {
namespace {

/// Writes instructions, one per line, each with a unique name.
class Instructions {
 public:
  explicit Instructions(int lanes) : lanes_(lanes), vector_(fmt::format("<{} x float>", lanes)) {}

  const std::string& vector() const { return vector_; }
  std::string integers() const { return fmt::format("<{} x i32>", lanes_); }
  std::string suffix() const { return fmt::format("v{}f32", lanes_); }
  int lanes() const { return lanes_; }
  const std::string& text() const { return text_; }

  void line(std::string_view instruction) { text_ += fmt::format("  {}\n", instruction); }
  void label(std::string_view name) { text_ += fmt::format("{}:\n", name); }
  std::string value(std::string_view instruction) {
    std::string name = fmt::format("%v{}", count_++);
    line(fmt::format("{} = {}", name, instruction));
    return name;
  }

  // Returns a float in all lanes. LLVM writes floats as the bits of the equal double.
  std::string constant(float number) const {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(number));
    return repeated(fmt::format("float 0x{:016X}", bits));
  }
  std::string integer(std::int32_t number) const { return repeated(fmt::format("i32 {}", number)); }

  // ---- vectors of floats
  std::string binary(std::string_view op, std::string_view a, std::string_view b) {
    return value(fmt::format("{} {} {}, {}", op, vector_, a, b));
  }
  std::string negative(std::string_view a) { return value(fmt::format("fneg {} {}", vector_, a)); }
  std::string fused(std::string_view a, std::string_view b, std::string_view c) {
    return value(fmt::format("call {0} @llvm.fma.{1}({0} {2}, {0} {3}, {0} {4})", vector_, suffix(),
                             a, b, c));
  }
  std::string function(std::string_view name, std::string_view a) {
    return value(fmt::format("call {0} @llvm.{1}.{2}({0} {3})", vector_, name, suffix(), a));
  }
  // Comparisons with NaN are false.
  std::string select_less(std::string_view a, std::string_view b, std::string_view yes,
                          std::string_view no) {
    const std::string less = value(fmt::format("fcmp olt {} {}, {}", vector_, a, b));
    return value(
        fmt::format("select <{0} x i1> {1}, {2} {3}, {2} {4}", lanes_, less, vector_, yes, no));
  }
  std::string as_integers(std::string_view a) {
    return value(fmt::format("bitcast {} {} to {}", vector_, a, integers()));
  }
  std::string integer_binary(std::string_view op, std::string_view a, std::string_view b) {
    return value(fmt::format("{} {} {}, {}", op, integers(), a, b));
  }
  std::string as_floats(std::string_view a) {
    return value(fmt::format("bitcast {} {} to {}", integers(), a, vector_));
  }

 private:
  std::string repeated(const std::string& element) const {
    std::string all = "<";
    for (int lane = 0; lane < lanes_; ++lane) all += (lane > 0 ? ", " : "") + element;
    return all + ">";
  }

  int lanes_;
  std::string vector_, text_;
  std::size_t count_ = 0;
};

// ---- functions, with the coefficients of hone/kernels/math-inl.h

// c[0] + c[1] t + c[2] t^2 + ...
std::string polynomial(Instructions& code, std::string_view t, std::span<const float> c) {
  std::string sum = code.constant(c.back());
  for (std::size_t i = c.size() - 1; i > 0; --i) sum = code.fused(sum, t, code.constant(c[i - 1]));
  return sum;
}

// Clamps to [-limit, limit]; NaN stays NaN.
std::string clamp_magnitude(Instructions& code, std::string_view x, float limit) {
  const std::string high = code.constant(limit), low = code.constant(-limit);
  const std::string below = code.select_less(high, x, high, x);
  return code.select_less(below, low, low, below);
}

// e^x = 2^n e^r with n = round(x / ln 2). 2^n is applied as two factors, so that results may be subnormal or infinite.
std::string exponential(Instructions& code, std::string_view x) {
  constexpr std::array<float, 5> kQ = {4.99999933e-1f, 1.66665190e-1f, 4.16684067e-2f,
                                       8.36891842e-3f, 1.38142526e-3f};
  constexpr float kRound = 0x1.8p23f;
  const std::string high = code.constant(89), low = code.constant(-104);
  const std::string below = code.select_less(high, x, high, x);
  const std::string c = code.select_less(below, low, low, below);
  const std::string shifted = code.fused(c, code.constant(1.44269504f), code.constant(kRound));
  const std::string n = code.binary("fsub", shifted, code.constant(kRound));
  std::string r = code.fused(n, code.constant(-0.693359375f), c);
  r = code.fused(n, code.constant(2.12194440e-4f), r);
  const std::string square = code.binary("fmul", r, r);
  const std::string small = code.fused(polynomial(code, r, kQ), square, r);
  const std::string mantissa = code.binary("fadd", small, code.constant(1));
  const std::string exponent = code.integer_binary(
      "sub", code.as_integers(shifted), code.integer(std::bit_cast<std::int32_t>(kRound)));
  const std::string half = code.integer_binary("ashr", exponent, code.integer(1));
  const std::string rest = code.integer_binary("sub", exponent, half);
  std::string result = mantissa;
  for (const std::string& part : {half, rest}) {
    const std::string biased = code.integer_binary("add", part, code.integer(127));
    result = code.binary("fmul", result,
                         code.as_floats(code.integer_binary("shl", biased, code.integer(23))));
  }
  return result;
}

// x P(x^2) / Q(x^2) up to `limit`, where it rounds to 1.
std::string odd_ratio(Instructions& code, std::string_view x, float limit, std::span<const float> p,
                      std::span<const float> q) {
  const std::string c = clamp_magnitude(code, x, limit);
  const std::string t = code.binary("fmul", c, c);
  const std::string above = code.binary("fmul", c, polynomial(code, t, p));
  return clamp_magnitude(code, code.binary("fdiv", above, polynomial(code, t, q)), 1);
}

std::string error_function(Instructions& code, std::string_view x) {
  constexpr std::array<float, 7> kP = {1.12837911f,    1.99760698e-1f, 5.05509305e-2f,
                                       3.69426276e-3f, 1.41649618e-4f, -1.95662358e-6f,
                                       1.99208309e-8f};
  constexpr std::array<float, 5> kQ = {1.0f, 5.10365002e-1f, 1.14930024e-1f, 1.43386681e-2f,
                                       9.54174163e-4f};
  return odd_ratio(code, x, 3.9192f, kP, kQ);
}

std::string hyperbolic_tangent(Instructions& code, std::string_view x) {
  constexpr std::array<float, 6> kP = {9.99999999e-1f, 1.36803206e-1f, 3.86883519e-3f,
                                       2.80176568e-5f, 3.06094015e-8f, -1.22214370e-11f};
  constexpr std::array<float, 5> kQ = {1.0f, 4.70136527e-1f, 2.72476978e-2f, 3.93952429e-4f,
                                       1.28807711e-6f};
  return odd_ratio(code, x, 9.011f, kP, kQ);
}

// ---- steps

using Step = FormulaSteps::Step;

/// Returns the products that are fused with an addition that is their only reader, by that addition.
std::map<std::size_t, std::size_t> fused_products(const FormulaSteps& formulas) {
  std::vector<std::size_t> uses(formulas.steps.size());
  for (const Step& step : formulas.steps)
    for (std::size_t i = 0; i < argument_count(step.op); ++i) ++uses[step.arguments[i]];
  for (const std::size_t result : formulas.results) ++uses[result];
  std::map<std::size_t, std::size_t> products;
  for (std::size_t at = 0; at < formulas.steps.size(); ++at) {
    const Step& step = formulas.steps[at];
    if (step.op != ScalarOp::add && step.op != ScalarOp::subtract) continue;
    for (std::size_t i = 0; i < 2 && !products.contains(at); ++i) {
      const std::size_t argument = step.arguments[i];
      if (formulas.steps[argument].op == ScalarOp::multiply && uses[argument] == 1)
        products.emplace(at, argument);
    }
  }
  return products;
}

std::vector<std::string> compute(Instructions& code, const FormulaSteps& formulas,
                                 std::span<const std::string> operands) {
  const auto products = fused_products(formulas);
  std::vector<bool> is_fused(formulas.steps.size());
  for (const auto& [addition, product] : products) is_fused[product] = true;
  std::vector<std::string> values(formulas.steps.size());
  const auto multiply_add = [&](const Step& step, std::size_t product) {
    const auto& [a, b, c, d] = formulas.steps[product].arguments;
    const bool first = step.arguments[0] == product;
    const std::string& other = values[step.arguments[first ? 1 : 0]];
    if (step.op == ScalarOp::add) return code.fused(values[a], values[b], other);
    return first ? code.fused(values[a], values[b], code.negative(other))
                 : code.fused(code.negative(values[a]), values[b], other);
  };
  const auto compute_step = [&](const Step& step) -> std::string {
    const auto a = [&](std::size_t i) -> const std::string& { return values[step.arguments[i]]; };
    switch (step.op) {
      case ScalarOp::operand:
        return operands[step.index];
      case ScalarOp::constant:
        return code.constant(static_cast<float>(step.value));
      case ScalarOp::add:
        return code.binary("fadd", a(0), a(1));
      case ScalarOp::subtract:
        return code.binary("fsub", a(0), a(1));
      case ScalarOp::multiply:
        return code.binary("fmul", a(0), a(1));
      case ScalarOp::divide: {
        const Step& divisor = formulas.steps[step.arguments[1]];
        if (divisor.op != ScalarOp::constant) return code.binary("fdiv", a(0), a(1));
        return code.binary("fmul", a(0), code.constant(static_cast<float>(1 / divisor.value)));
      }
      case ScalarOp::negate:
        return code.negative(a(0));
      case ScalarOp::absolute:
        return code.function("fabs", a(0));
      case ScalarOp::square_root:
        return code.function("sqrt", a(0));
      case ScalarOp::exponential:
        return exponential(code, a(0));
      case ScalarOp::error_function:
        return error_function(code, a(0));
      case ScalarOp::hyperbolic_tangent:
        return hyperbolic_tangent(code, a(0));
      case ScalarOp::select_less:
        return code.select_less(a(0), a(1), a(2), a(3));
    }
    HONE_ASSERT(false, "a step of kind {}", static_cast<int>(step.op));
  };
  for (std::size_t at = 0; at < formulas.steps.size(); ++at) {
    if (is_fused[at]) continue;
    const auto product = products.find(at);
    values[at] = product != products.end() ? multiply_add(formulas.steps[at], product->second)
                                           : compute_step(formulas.steps[at]);
  }
  std::vector<std::string> results;
  for (const std::size_t result : formulas.results) results.push_back(values[result]);
  return results;
}

// ---- memory

std::string all_lanes(Instructions& code, std::string_view scalar) {
  const std::string one =
      code.value(fmt::format("insertelement {} poison, float {}, i64 0", code.vector(), scalar));
  return code.value(fmt::format("shufflevector {0} {1}, {0} poison, {2} zeroinitializer",
                                code.vector(), one, code.integers()));
}

std::string repeated(Instructions& code, OperandKind kind, std::string_view pointer) {
  if (kind == OperandKind::repeated_value)
    return all_lanes(code, code.value(fmt::format("load float, ptr {}", pointer)));
  const std::string byte = code.value(fmt::format("load i8, ptr {}", pointer));
  return all_lanes(code, code.value(fmt::format("uitofp i8 {} to float", byte)));
}

// Loads elements of `pointer` from `index` on; all lanes, or those of `mask`.
std::string loaded(Instructions& code, OperandKind kind, std::string_view pointer,
                   std::string_view index, std::string_view mask) {
  const int lanes = code.lanes();
  const bool truth = is_bool_operand(kind);
  const std::string type = truth ? fmt::format("<{} x i8>", lanes) : code.vector();
  const std::string at = code.value(
      fmt::format("getelementptr {}, ptr {}, i64 {}", truth ? "i8" : "float", pointer, index));
  const std::string value =
      mask.empty()
          ? code.value(fmt::format("load {}, ptr {}, align {}", type, at, truth ? 1 : 4))
          : code.value(fmt::format("call {0} @llvm.masked.load.v{1}{2}.p0(ptr {3}, i32 {4}, <{1} x "
                                   "i1> {5}, {0} zeroinitializer)",
                                   type, lanes, truth ? "i8" : "f32", at, truth ? 1 : 4, mask));
  if (!truth) return value;
  return code.value(fmt::format("uitofp {} {} to {}", type, value, code.vector()));
}

void store(Instructions& code, std::string_view value, std::string_view pointer,
           std::string_view index, std::string_view mask) {
  const std::string at =
      code.value(fmt::format("getelementptr float, ptr {}, i64 {}", pointer, index));
  if (mask.empty())
    return code.line(fmt::format("store {} {}, ptr {}, align 4", code.vector(), value, at));
  code.line(fmt::format(
      "call void @llvm.masked.store.v{0}f32.p0({1} {2}, ptr {3}, i32 4, <{0} x i1> {4})",
      code.lanes(), code.vector(), value, at, mask));
}

// Returns the mask of the lanes below `%left`.
std::string mask_of_rest(Instructions& code) {
  const int lanes = code.lanes();
  const std::string narrow = code.value("trunc i64 %left to i32");
  const std::string one =
      code.value(fmt::format("insertelement {} poison, i32 {}, i64 0", code.integers(), narrow));
  const std::string all = code.value(
      fmt::format("shufflevector {0} {1}, {0} poison, {0} zeroinitializer", code.integers(), one));
  std::string numbers = "<";
  for (int lane = 0; lane < lanes; ++lane)
    numbers += fmt::format("{}i32 {}", lane > 0 ? ", " : "", lane);
  return code.value(fmt::format("icmp slt {} {}>, {}", code.integers(), numbers, all));
}

}  // namespace

std::string vector_code(const FormulaSteps& formulas, std::span<const OperandKind> operands,
                        int lanes, std::string_view name) {
  Instructions code(lanes);
  const std::size_t results = formulas.results.size();
  // Loads precede all stores, because a result may share the memory of an operand.
  std::vector<std::string> vectors(operands.size());
  const auto body = [&](std::string_view index, std::string_view mask) {
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (!is_repeated(operands[i]))
        vectors[i] = loaded(code, operands[i], fmt::format("%x{}", i), index, mask);
    const std::vector<std::string> values = compute(code, formulas, vectors);
    for (std::size_t i = 0; i < results; ++i)
      store(code, values[i], fmt::format("%y{}", i), index, mask);
  };

  code.label("entry");
  const auto take = [&](const char* what, const char* from, std::size_t i, const char* type) {
    const std::string at =
        code.value(fmt::format("getelementptr {}, ptr {}, i64 {}", type, from, i));
    code.line(fmt::format("%{}{} = load {}, ptr {}", what, i, type, at));
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    take("x.first", "%operands", i, "ptr");
    take("x.step", "%operand_row_bytes", i, "i64");
  }
  for (std::size_t i = 0; i < results; ++i) take("y.first", "%results", i, "ptr");
  code.line(fmt::format("%whole = and i64 %columns, {}", -lanes));
  code.line("%left = sub i64 %columns, %whole");
  code.line("%has_whole = icmp ne i64 %whole, 0");
  code.line("%has_rest = icmp ne i64 %left, 0");
  const std::string mask = mask_of_rest(code);
  code.line("br label %row");

  code.label("row");
  code.line("%row.number = phi i64 [ 0, %entry ], [ %row.next, %row.end ]");
  for (std::size_t i = 0; i < operands.size(); ++i)
    code.line(fmt::format("%x{0} = phi ptr [ %x.first{0}, %entry ], [ %x.next{0}, %row.end ]", i));
  for (std::size_t i = 0; i < results; ++i)
    code.line(fmt::format("%y{0} = phi ptr [ %y.first{0}, %entry ], [ %y.next{0}, %row.end ]", i));
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (is_repeated(operands[i])) vectors[i] = repeated(code, operands[i], fmt::format("%x{}", i));
  code.line("br i1 %has_whole, label %vectors, label %rest.begin");

  code.label("vectors");
  code.line("%column = phi i64 [ 0, %row ], [ %column.next, %vectors ]");
  body("%column", "");
  code.line(fmt::format("%column.next = add i64 %column, {}", lanes));
  code.line("%more = icmp ult i64 %column.next, %whole");
  code.line("br i1 %more, label %vectors, label %rest.begin");

  code.label("rest.begin");
  code.line("br i1 %has_rest, label %rest, label %row.end");
  code.label("rest");
  body("%whole", mask);
  code.line("br label %row.end");

  code.label("row.end");
  for (std::size_t i = 0; i < operands.size(); ++i)
    code.line(fmt::format("%x.next{0} = getelementptr i8, ptr %x{0}, i64 %x.step{0}", i));
  for (std::size_t i = 0; i < results; ++i)
    code.line(fmt::format("%y.next{0} = getelementptr float, ptr %y{0}, i64 %columns", i));
  code.line("%row.next = add i64 %row.number, 1");
  code.line("%again = icmp ult i64 %row.next, %rows");
  code.line("br i1 %again, label %row, label %exit");
  code.label("exit");
  code.line("ret void");

  const std::string vector = code.vector(), suffix = code.suffix();
  std::string text = fmt::format(
      "define void @{}(ptr %operands, ptr %results, ptr %operand_row_bytes, i64 %rows, i64 "
      "%columns) nounwind {{\n{}}}\n\n",
      name, code.text());
  text += fmt::format("declare {0} @llvm.fma.{1}({0}, {0}, {0})\n", vector, suffix);
  for (const char* function : {"fabs", "sqrt"})
    text += fmt::format("declare {0} @llvm.{1}.{2}({0})\n", vector, function, suffix);
  text += fmt::format(
      "declare {0} @llvm.masked.load.v{1}f32.p0(ptr, i32, <{1} x i1>, {0})\n"
      "declare <{1} x i8> @llvm.masked.load.v{1}i8.p0(ptr, i32, <{1} x i1>, <{1} x i8>)\n"
      "declare void @llvm.masked.store.v{1}f32.p0({0}, ptr, i32, <{1} x i1>)\n",
      vector, lanes);
  return text;
}

}  // namespace hone::compiler
