#include "ir/certificate.h"

#include <gtest/gtest.h>

namespace frazil::ir {
namespace {

constexpr std::string_view Example =
    "certificate 1\n"
    "term source 0 0\n"
    "term source 0 5\n"
    "term constant u32 8\n"
    "term constant int<2> 500000000000000000500000000000000000\n"
    "term constant f32 -0x1.8p+1\n"
    "term constant f64 bits(0x7ff8000000000001)\n"
    "term constant xfield (1, 2, 3)\n"
    "term apply add u32 u32 0 2\n"
    "term apply xfield.part xfield field 6 #2\n"
    "term candidate 0 4\n"
    "equal mul_distributes reversed 2 7\n"
    "equal mul_power 7 9\n"
    "closed 0 3 0 3\n";

TEST(Certificate, RoundTrips) {
  const Result<Certificate> parsed = ParseCertificate(Example);
  ASSERT_TRUE(parsed) << parsed.error().ToString();
  EXPECT_EQ(parsed->terms.size(), 10u);
  EXPECT_EQ(parsed->terms[8].words, std::vector<uint64_t>{2});
  EXPECT_TRUE(parsed->equalities[0].reversed);
  EXPECT_EQ(parsed->closed_forms[0].closed, 3u);
  const std::string printed = PrintCertificate(*parsed);
  const Result<Certificate> again = ParseCertificate(printed);
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(PrintCertificate(*again), printed);
}

TEST(Certificate, RefusesWhatDoesNotFit) {
  const std::string head = "certificate 1\n";
  for (const char* line :
       {"term", "term source", "term source 0", "term source 0 x", "term source 0 0 0",
        "term constant u8 256", "term constant f32", "term apply frob u32 u32",
        "term apply add u32 u32 0", "term apply add u33 u32", "equal add_zero 0 0",
        "closed 0 0 0 0", "nonsense", "term source 99999999999 0", "term apply add u32 u32 #zz"}) {
    EXPECT_FALSE(ParseCertificate(head + line + "\n")) << line;
  }
  EXPECT_FALSE(ParseCertificate(""));
  EXPECT_FALSE(ParseCertificate("certificate 2\n"));
}

}  // namespace
}  // namespace frazil::ir
