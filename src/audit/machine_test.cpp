#include "audit/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "registry/targets.h"

namespace frazil::audit {
namespace {

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value, 1);
  }
  ~Variable() {
    if (old_.empty())
      ::unsetenv(name_);
    else
      ::setenv(name_, old_.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string old_;
};

const MachineFinding* Find(const std::vector<MachineFinding>& findings, std::string_view name) {
  const auto at = std::ranges::find(findings, name, &MachineFinding::name);
  return at == findings.end() ? nullptr : &*at;
}

// Both in one: trying everything takes a second.
TEST(Machine, EverythingIsTriedAndWhatIsNamedIsNeeded) {
  const Variable worker("FRAZIL_WORKER", "/nowhere/frazil-worker");
  const Variable store("FRAZIL_STORE", "/dev/null/store");
  const Variable prover("FRAZIL_ORACLE", "/nowhere/oracle");
  const Variable path("PATH", "/nowhere:/usr/bin:/bin");
  const std::vector<MachineFinding> findings = InspectMachine({});
  ASSERT_NE(Find(findings, "cpu"), nullptr);
  EXPECT_TRUE(Find(findings, "cpu")->good);
  for (const std::string& target : registry::TargetNames()) {
    const MachineFinding* finding = Find(findings, "target " + target);
    ASSERT_NE(finding, nullptr) << target;
    EXPECT_TRUE(finding->good || !finding->needed) << target << ": " << finding->text;
    if (target == "interp" || target == "isa") EXPECT_EQ(finding->text, "runs");
  }
  for (const char* name : {"worker", "store", "prover"}) {
    const MachineFinding* finding = Find(findings, name);
    ASSERT_NE(finding, nullptr) << name;
    EXPECT_FALSE(finding->good) << name;
    EXPECT_TRUE(finding->needed) << name;
    EXPECT_NE(finding->text, "") << name;
    EXPECT_NE(finding->remedy, "") << name;
  }
  EXPECT_EQ(Find(findings, "store key"), nullptr) << "of a store that is not there";
  EXPECT_FALSE(Works(findings));
}

TEST(Machine, WorksWithoutWhatIsNotNeeded) {
  EXPECT_TRUE(Works({}));
  EXPECT_TRUE(Works({{"a", true, true, ""}, {"b", false, false, ""}}));
  EXPECT_FALSE(Works({{"a", true, true, ""}, {"b", false, true, ""}}));
}

}  // namespace
}  // namespace frazil::audit
