#include "audit/matrix.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "exec/meaning/interpreter.h"
#include "registry/targets.h"

namespace frazil::audit {
namespace {

// Does nothing and says that all went well.
class Idle final : public exec::Target {
 public:
  std::string_view name() const override { return "idle"; }
  std::string Refuses(const ir::Program& program) const override {
    return program.entry_function().param_count() == 0 ? "it wants arguments" : "";
  }
  Result<exec::Artifact> Emit(const ir::Program&, const exec::EmitOptions&) const override {
    return exec::Artifact();
  }
  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact&) const override {
    class Nothing final : public exec::Callable {
      Result<exec::Outcome> Run(std::span<const exec::Value>, const exec::RunContext&) override {
        return exec::Outcome();
      }
    };
    return std::make_unique<Nothing>();
  }
};

TEST(Matrix, EveryDoorIsComparedOnEveryTarget) {
  registry::RegisterTarget({"idle", [] { return std::make_unique<Idle>(); }});
  std::set<std::string> doors;
  std::map<std::string, std::map<std::string, int>> states;  // of each target
  size_t rows = 0, cells = 0;
  const Result<void> run = RunMatrix(
      {},
      [&](const MatrixRow& row) {
        EXPECT_EQ(cells, rows * registry::TargetNames().size()) << "all cells of the row before";
        ++rows;
        doors.insert(row.door);
      },
      [&](const MatrixCell& cell) {
        EXPECT_EQ(cell.target, registry::TargetNames()[cells++ % registry::TargetNames().size()]);
        EXPECT_EQ(cell.reason.empty(), cell.state == "same" || cell.state == "differs");
        ++states[cell.target][cell.state];
      });
  ASSERT_TRUE(run) << run.error().ToString();
  EXPECT_EQ(doors, (std::set<std::string>{"circuit", "frz", "python", "tir", "trident", "words"}));
  EXPECT_EQ(states["interp"], (std::map<std::string, int>{{"same", static_cast<int>(rows)}}));
  EXPECT_EQ(states["isa"]["differs"] + states["wasm"]["differs"] + states["isa"]["failed"], 0);
  EXPECT_GT(states["idle"]["differs"], 0) << "whoever does nothing is found out";
  EXPECT_GT(states["idle"]["refused"], 0);
}

}  // namespace
}  // namespace frazil::audit
