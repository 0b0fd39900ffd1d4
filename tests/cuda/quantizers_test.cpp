#include <cmath>
#include <cstring>

#include "hone/base/random.h"
#include "hone/formats/calibrate.h"
#include "hone/tensor/dense.h"
#include "tests/cuda/gpu.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/evaluate.h"

// Checks that quantizers on the GPU have the bits of the formats' references, for every format and setting, blocks that
// do not divide rows, and hard values. The same holds for gradients, except those of learned states, which are sums.
namespace hone::testing {
namespace {

const std::vector<Format>& variants() {
  static const std::vector<Format> all = [] {
    std::vector<Format> made;
    const auto add = [&](const std::string& text) {
      try {
        made.push_back(format_of(text));
      } catch (const UserError&) {  // settings that exclude each other
      }
    };
    for (const auto& [name, def] : formats()) {
      std::vector<std::string> settings = {""};
      for (const FormatParameterDef& parameter : def.parameters) {
        for (const std::string_view word : parameter.words)
          settings.push_back(fmt::format("{}={}", parameter.name, word));
        if (parameter.name == "bits" || parameter.name == "width")
          for (const int bits : {2, 3, 4, 6, 10, 16})
            settings.push_back(fmt::format("{}={}", parameter.name, bits));
        if (parameter.name == "axis") settings.push_back("axis=0");
        if (parameter.name == "rows") settings.push_back("rows=2");
        if (parameter.name == "block") settings.push_back("block=20");
        if (parameter.name == "group")
          for (const char* group : {"group=20", "group=64,range=affine", "bits=4,group=32"})
            settings.push_back(group);
      }
      for (const std::string& setting : settings) {
        add(setting.empty() ? name : fmt::format("{}({})", name, setting));
        if (setting.find("mode") == std::string::npos)
          add(setting.empty() ? fmt::format("{}(mode=mase)", name)
                              : fmt::format("{}({},mode=mase)", name, setting));
      }
    }
    return made;
  }();
  return all;
}

class CudaQuantizers : public OnGpu {
 protected:
  struct Site {
    std::string operands;  // "%x, %s0"
    std::string text;      // of the inputs
    NamedTensors inputs;
  };

  static Site site_of(const Sizes& sizes, const std::vector<float>& x,
                      const std::vector<Tensor>& states) {
    Site site{"%x", fmt::format("%x = input : f32{}\n", to_string(sizes)), {}};
    site.inputs.emplace("x", Tensor::of<float>(sizes, x).on(gpu()));
    for (std::size_t i = 0; i < states.size(); ++i) {
      site.operands += fmt::format(", %s{}", i);
      site.text += fmt::format("%s{} = input : f32{}\n", i, to_string(states[i].sizes()));
      site.inputs.emplace(fmt::format("s{}", i), states[i].on(gpu()));
    }
    return site;
  }

  static NamedTensors run(const std::string& text, const NamedTensors& inputs) {
    const Graph graph = parse_graph(text, library().ops, library().formats);
    ThreadPool pool(1);
    ParameterStore none;
    NamedTensors outputs;
    for (const auto& [name, tensor] : Interpreter(graph, library(), pool, gpu()).run(inputs, none))
      outputs.emplace(name, dense_on(tensor, cpu()));
    return outputs;
  }
};

std::size_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return i;
  return a.size();
}

const std::vector<Sizes>& shapes() {
  static const std::vector<Sizes> all = {{64}, {7, 129}, {3, 5, 40}, {2, 100, 64}};
  return all;
}

TEST_F(CudaQuantizers, HaveTheBitsOfTheReferences) {
  int compared = 0;
  for (const Format& format : variants()) {
    const std::string name = to_string(format);
    for (const Sizes& sizes : shapes()) {
      const auto count = static_cast<std::size_t>(element_count(sizes));
      for (const bool any : {false, true}) {
        const std::vector<float> x = any ? any_values(count) : finite_values(count, 6, 3);
        const std::vector<Tensor> states =
            calibrated_state(name, finite_values(count, 6, 3), sizes);
        std::vector<float> expected;
        try {
          expected = by_reference(name, x, sizes, states);
        } catch (const UserError&) {  // MASE's blocks must divide the tensor
          continue;
        }
        const Site site = site_of(sizes, x, states);
        try {
          const std::vector<float> got = elements_of(
              run(site.text +
                      fmt::format("%y = quantize({}) {{format={}}} : f32{}\noutput y = %y\n",
                                  site.operands, name, to_string(sizes)),
                  site.inputs)
                  .at("y"));
          const std::size_t at = first_difference(got, expected);
          if (at < count)
            ADD_FAILURE() << name << " of " << to_string(sizes) << " at " << at << ": " << x[at]
                          << " becomes " << got[at] << ", not " << expected[at];
          ++compared;
        } catch (const UserError& error) {
          ADD_FAILURE() << name << ": " << error.what();
        }
      }
    }
  }
  EXPECT_GE(compared, 1000);
}

TEST_F(CudaQuantizers, GiveTheGradientsOfTheReferences) {
  for (const Format& format : variants()) {
    if (gradient_rule_of(format) != GradientRule::own) continue;
    const std::string name = to_string(format);
    for (const Sizes& sizes : shapes()) {
      const auto count = static_cast<std::size_t>(element_count(sizes));
      const std::vector<float> x = finite_values(count, 6, 3);
      RandomSequence random(5, 2);
      std::vector<float> dy(count);
      for (float& value : dy) value = static_cast<float>(random.normal());
      const std::vector<Tensor> states = calibrated_state(name, x, sizes);
      const std::vector<FormatStateDef> defs = states_of(format);
      Site site = site_of(sizes, x, states);
      site.inputs.emplace("dy", Tensor::of<float>(sizes, dy).on(gpu()));
      std::string results = fmt::format("f32{}", to_string(sizes)), outputs = "output dx = %y\n";
      std::vector<Tensor> gradients(states.size());
      int learned = 0;
      for (std::size_t i = 0; i < defs.size(); ++i) {
        if (!defs[i].learned) continue;
        gradients[i] = Tensor::zeros(DType::f32, states[i].sizes());
        results += fmt::format(", f32{}", to_string(states[i].sizes()));
        outputs += fmt::format("output s{} = %y:{}\n", i, ++learned);
      }
      std::vector<float> expected(count);
      ThreadPool pool(1);
      format.def->backward({format, sizes, x, states}, pool, dy, expected, gradients);
      site.operands.replace(0, 2, "%x, %dy");
      const std::string text =
          fmt::format("{}%dy = input : f32{}\n%y = quantize_gradient({}) {{format={}}} : {}\n{}",
                      site.text, to_string(sizes), site.operands, name, results, outputs);
      const NamedTensors got = run(text, site.inputs);
      const std::vector<float> dx = elements_of(got.at("dx"));
      const std::size_t at = first_difference(dx, expected);
      if (at < count)
        ADD_FAILURE() << name << " of " << to_string(sizes) << " at " << at << ": " << dx[at]
                      << ", not " << expected[at];
      for (std::size_t i = 0; i < defs.size(); ++i) {
        if (!defs[i].learned) continue;
        // Sums over all elements, in another order.
        const double allowed = static_cast<double>(count) * 0x1p-24 * 8;
        const std::vector<float> a = elements_of(got.at(fmt::format("s{}", i))),
                                 b = elements_of(gradients[i]);
        for (std::size_t k = 0; k < a.size(); ++k)
          EXPECT_NEAR(a[k], b[k], allowed) << name << ", gradient of " << defs[i].name;
      }
    }
  }
}

}  // namespace
}  // namespace hone::testing
