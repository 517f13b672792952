// Code that tells which of its blocks have run.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/native/native_code.h"
#include "verify/runs/code_reader.h"

namespace frazil::verify {

class WatchedCode {
 public:
  virtual ~WatchedCode() = default;
  WatchedCode(const WatchedCode&) = delete;
  WatchedCode& operator=(const WatchedCode&) = delete;

  const std::vector<CodeBlock>& blocks() const { return blocks_; }
  virtual bool HasRun(size_t block) const = 0;
  size_t CountRun() const;
  const std::vector<CodeBranch>& branches() const { return branches_; }
  virtual bool WasTaken(size_t turn) const = 0;  // only of turns

  // How far from going the other way the branches were that are aimed at, at best, in what runs from now on.
  struct Aim {
    size_t branch;
    bool is_taken;  // wanted
  };
  virtual void AimAt(std::vector<Aim> aims) = 0;
  static constexpr uint64_t Far = UINT64_MAX;  // not reached, or nothing is known
  virtual uint64_t Distance(size_t aim) const = 0;

  // What has run until now; and to forget what came after, because its answer was not compared.
  struct Mark {
    std::vector<bool> has_run, was_taken;
  };
  Mark MarkRun() const;
  virtual void BackTo(const Mark& mark) = 0;

  // Thresholds that decide between forms of one loop: at their least (but for one, perhaps), or as the code has them.
  virtual size_t threshold_count() const { return 0; }
  virtual void Lower(bool /*lowered*/, std::optional<size_t> /*except*/ = {}) {}

  virtual bool metered() const { return false; }  // counts fuel
  // A place as people look for it: "+0x1f0".
  virtual std::string PlaceText(uint32_t place) const;
  // What evidence has to say about the code that ran, behind the number of its blocks.
  virtual std::string_view What() const { return ""; }

 protected:
  WatchedCode() = default;
  std::vector<CodeBlock> blocks_;
  std::vector<CodeBranch> branches_;
};

// How much one of the two numbers that a branch compares must change for it to go the wanted way. Conditions are numbered
// as x86 numbers them.
uint64_t DistanceOf(const CodeBranch& branch, bool wanted, uint8_t bits, uint64_t left,
                    uint64_t right);

// Machine code: a private copy with a breakpoint at the first byte of each block, taken away when it is hit for the first
// time. What runs are the judged bytes, and a block costs one signal (some 2 us), once. A branch back has one until it is
// taken, and one that decides about code that has not run can be aimed at: there the signal looks at the numbers that are
// compared and does the jump by hand.
//
// The copy is mapped twice, once to be executed and once to be written. SIGTRAP is ours while any is mapped; a trap that
// is not one of ours goes to whoever had it before. x86-64 Linux.
class WatchedImage final : public WatchedCode {
 public:
  static Result<std::unique_ptr<WatchedImage>> Map(const exec::NativeImage& image, CodeParts parts);
  ~WatchedImage() override;

  // May be called while this lives.
  const std::shared_ptr<const exec::NativeCode>& code() const { return code_; }
  bool HasRun(size_t block) const override;
  bool WasTaken(size_t turn) const override { return states_[turn].taken.load(); }
  void AimAt(std::vector<Aim> aims) override;
  uint64_t Distance(size_t aim) const override;
  void BackTo(const Mark& mark) override;
  size_t threshold_count() const override { return thresholds_.size(); }
  void Lower(bool lowered, std::optional<size_t> except = {}) override;
  bool metered() const override { return code_->metered(); }

 private:
  friend struct Watchers;
  WatchedImage() = default;
  // Breakpoints everywhere again: who runs now?
  void Rearm();
  // In a signal handler: where to go on, or nothing if it is not ours.
  std::optional<uint64_t> Hit(uint64_t place, const long long* registers);
  void SetByte(uint32_t offset);

  std::shared_ptr<const exec::NativeCode> code_;
  std::byte* writable_ = nullptr;
  size_t size_ = 0;
  struct Threshold {
    uint32_t offset;
    uint64_t usual, least;
  };
  std::vector<Threshold> thresholds_;
  std::string first_bytes_;
  std::unique_ptr<std::atomic<bool>[]> has_run_;
  std::string branch_bytes_;  // the first of each
  struct BranchState {
    std::atomic<bool> taken = false;
    std::atomic<int8_t> wanted = -1;  // aimed at: 0 not taken, 1 taken
    std::atomic<uint32_t> hits = 0;
    std::atomic<uint64_t> distance = Far;
  };
  std::unique_ptr<BranchState[]> states_;
  std::vector<Aim> aims_;
};

}  // namespace frazil::verify
