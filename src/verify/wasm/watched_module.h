// A WASM module that tells which of its blocks have run, by a copy with marks (marked.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/target.h"
#include "verify/internal/watched_code.h"
#include "verify/wasm/flow.h"
#include "verify/wasm/marked.h"

namespace frazil::verify::wasm {

class WatchedModule final : public WatchedCode {
 public:
  // Reads the artifact's bytes, and loads them and the copy. Their data is compared with the program's.
  static Result<std::unique_ptr<WatchedModule>> Load(const ir::Program& program,
                                                     const exec::Target& target,
                                                     const exec::Artifact& artifact);

  // Runs the copy.
  exec::Callable& code() { return callable_; }

  bool HasRun(size_t block) const override { return has_run_[block]; }
  bool WasTaken(size_t turn) const override { return was_taken_[turn]; }
  void AimAt(std::vector<Aim> aims) override;
  uint64_t Distance(size_t aim) const override { return distances_[aim]; }
  void BackTo(const Mark& mark) override;
  bool metered() const override { return metered_; }
  std::string PlaceText(uint32_t place) const override;
  std::string_view What() const override { return " of a copy with marks"; }

 private:
  struct Marked final : exec::Callable {
    explicit Marked(WatchedModule& owner) : owner(owner) {}
    Result<exec::Outcome> Run(std::span<const exec::Value> arguments,
                              const exec::RunContext& context) override;
    // One run that leaves its marks; `squeezes_heap`: exec::RunContext.
    Result<exec::Outcome> RunOnce(std::span<const exec::Value> arguments,
                                  const exec::RunContext& context, bool squeezes_heap);
    WatchedModule& owner;
    std::unique_ptr<exec::Callable> callable;
    bool has_layouts = false;  // it has scratch or output, for which hosts choose the place
  };

  explicit WatchedModule(Flow flow);
  // What the last run left.
  void ReadMarks();

  Flow flow_;
  bool metered_ = false;
  MarkLayout layout_;
  Marked callable_{*this};
  std::vector<std::byte> marks_;
  std::vector<bool> has_run_, was_taken_;
  std::vector<Aim> aims_;
  std::vector<uint64_t> distances_;
};

}  // namespace frazil::verify::wasm
