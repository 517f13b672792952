// Large tensor programs by calls: cut into forms with symbols for sizes, each looked up (in this process, in the store) or made and
// judged once by the improve loop, then the plan is proved and linked. A second region of the same forms compiles nothing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/system/fork.h"
#include "dispatch/calls.h"
#include "engine/worker/worker.h"
#include "ir/signed_program.h"
#include "optimize/calls/cut.h"
#include "store/store.h"

namespace frazil::engine {

// Judged forms by the programs that they answer for. Any thread; one that is missing is made by the first who asks.
class FormBook {
 public:
  using Form = verify::Verified<exec::CompiledForm>;
  // The improve loop: Worker::Improve, or ImproveHere in tools that have the compiler.
  using Work = std::function<Result<WorkReply>(const WorkRequest& request)>;

  // `store`: null: none. `toolchain`: of whoever works, as his forms say it. An empty `work` makes nothing.
  FormBook(store::Store* store, std::string toolchain, Work work);

  Result<dispatch::JudgedCode> Get(const exec::PlanForm& form);
  Result<std::vector<dispatch::JudgedCode>> GetAll(const exec::Plan& plan);

  // Who made a form in this process (WorkReply::worker; 0: nobody did, or it came from the store), and where it is kept.
  struct Origin {
    uint64_t worker = 0;
    std::optional<store::StoreKey> key = {};
    std::string content = {};  // digest of what is kept there
  };
  Origin OriginOf(const std::string& exact) const;
  // What a worker made that was caught is not used again.
  void Forget(uint64_t worker);

  store::Store* store() const { return store_; }
  const verify::InstallKey& key() const { return key_; }
  store::StoreKey KeyOf(const std::string& exact, std::string_view target) const;

  struct Counts {
    uint64_t known = 0, stored = 0, made = 0;
  };
  Counts counts() const;

 private:
  std::optional<Form> FromStore(const exec::PlanForm& form, const verify::Policy& policy) const;
  Result<Form> Make(const exec::PlanForm& form, const verify::Policy& policy, Origin& origin) const;

  store::Store* store_;
  std::string toolchain_;
  Work work_;
  verify::InstallKey key_;
  struct Entry {
    dispatch::JudgedCode code;
    Origin origin;
  };
  mutable ForkMutex mutex_;
  std::map<std::string, Entry> entries_;
  Counts counts_;
};

// A verified plan of a program, with the code that it calls.
struct CallsForm {
  verify::Verified<exec::CompiledForm> form;
  std::vector<dispatch::JudgedCode> parts;
  bool is_stored = false;  // nothing was judged: this installation has done so before
  double cut_ms = 0, forms_ms = 0, judge_ms = 0;
};

// From the store, or cut, proved and kept there, in the first of the ways that leads to a proof. The error is the first way's.
Result<CallsForm> MakeCalls(const ir::SignedProgram& source, FormBook& book,
                            std::span<const optimize::CutWay> ways = optimize::CutWays);

// So much work that no judge could run all of it on the interpreter often enough, in ops that can be forms of their own.
bool WantsCalls(const ir::Program& source);

}  // namespace frazil::engine
