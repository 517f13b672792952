// Tests that something ends by a fault of memory.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

// A sanitizer would handle the signal, report it and exit: the signal itself is what is expected.
#define FRAZIL_EXPECT_FAULT(statement)                                                    \
  EXPECT_EXIT((std::signal(SIGSEGV, SIG_DFL), static_cast<void>(statement), std::_Exit(0)), \
              ::testing::KilledBySignal(SIGSEGV), "")
