// A session with the real Triton VM; tests are skipped where there is none and none was promised.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "oracle/oracle.h"

namespace frazil::tests {

class OracleTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<std::string> found = oracle::FindOracle();
    if (found) return;
    if (std::getenv("FRAZIL_ORACLE_OPTIONAL") != nullptr) GTEST_SKIP() << found.error().ToString();
    FAIL() << found.error().ToString();
  }
  oracle::Session session_;
};

}  // namespace frazil::tests
