// Loading: every module once and before its user, from files, search folders and the library; circles and what is missing.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "frontends/trident/trident.h"

namespace frazil::frontends::trident {
namespace {

std::vector<std::string> Names(const Package& package) {
  std::vector<std::string> names;
  for (const auto& module : package.modules) names.push_back(module->name.ToString());
  return names;
}

Loader Table(std::map<std::string, std::string> modules) {
  return [modules](std::string_view name) -> std::optional<Source> {
    auto it = modules.find(std::string(name));
    if (it == modules.end()) return std::nullopt;
    return Source{it->first + ".tri", it->second};
  };
}

TEST(Modules, EachOnceInOrder) {
  const Loader loader =
      Table({{"a", "module a\nuse c\n"}, {"b", "module b\nuse a\nuse c\n"}, {"c", "module c\n"}});
  std::vector<Error> errors;
  const Result<Package> package = Load("program p\nuse b\nuse a\n", "p.tri", loader, &errors);
  ASSERT_TRUE(package.has_value());
  EXPECT_EQ(Names(*package), (std::vector<std::string>{"c", "a", "b", "p"}));
}

TEST(Modules, Circles) {
  const Loader loader =
      Table({{"a", "module a\nuse b\n"}, {"b", "module b\nuse c\n"}, {"c", "module c\nuse a\n"}});
  std::vector<Error> errors;
  EXPECT_FALSE(Load("program p\nuse a\n", "p.tri", loader, &errors).has_value());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].diag, Diag::ModuleCycle);
  EXPECT_NE(errors[0].message.find("a -> b -> c -> a"), std::string::npos);
  EXPECT_EQ(errors[0].file, "c.tri");
  EXPECT_EQ(errors[0].location.line, 2u);
}

TEST(Modules, MissingAndMisnamed) {
  std::vector<Error> errors;
  EXPECT_FALSE(Load(
                   "program p\nuse std.hsah\nuse merkle\nuse x.y\nuse x.y\nuse q\nuse r\nuse bad\n",
                   "p.tri",
                   [](std::string_view name) -> std::optional<Source> {
                     if (name == "q") return Source{"q.tri", "module other\n"};
                     if (name == "r") return Source{"r.tri", "program r\n"};
                     if (name == "bad") return Source{"bad.tri", "module bad\nfn f( { }\n"};
                     return std::nullopt;
                   },
                   &errors)
                   .has_value());
  ASSERT_EQ(errors.size(), 7u);
  EXPECT_EQ(errors[0].diag, Diag::Redefined);
  EXPECT_NE(errors[1].hint.find("std.hash"), std::string::npos);
  EXPECT_NE(errors[2].hint.find("merkle"), std::string::npos);
  EXPECT_NE(errors[3].hint.find("x/y.tri"), std::string::npos);
  EXPECT_EQ(errors[4].file, "q.tri");
  EXPECT_NE(errors[5].message.find("program"), std::string::npos);
  EXPECT_EQ(errors[6].file, "bad.tri");
}

TEST(Modules, UnusedImportsAreWarnings) {
  const Loader loader = Table({{"a", "module a\npub const C: Field = 1\n"},
                               {"x.b", "module x.b\npub struct S { pub f: Field }\n"},
                               {"c", "module c\nevent E { f: Field }\n"},
                               {"d", "module d\n"},
                               {"e", "module e\npub fn f() { }\n"}});
  std::vector<Error> errors;
  const Result<Package> package = Load(
      "program p\nuse a\nuse x.b\nuse c\nuse d\nuse e\nfn main() {\n if a.C == 1 { e.f() }\n let "
      "s: [b.S; 1] = t\n reveal c.E { f: 1 }\n}\n",
      "p.tri", loader, &errors);
  ASSERT_TRUE(package.has_value());
  ASSERT_EQ(package->warnings.size(), 1u);
  EXPECT_EQ(package->warnings[0].diag, Diag::UnusedImport);
  EXPECT_EQ(package->warnings[0].location.line, 5u);
}

TEST(Modules, FilesThenLibrary) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / "trident_modules";
  fs::create_directories(root / "app" / "crypto");
  fs::create_directories(root / "more" / "extra");
  std::ofstream(root / "app" / "trident.toml") << "[project]\n";
  std::ofstream(root / "app" / "tools.tri") << "module tools\n";
  std::ofstream(root / "app" / "crypto" / "lock.tri")
      << "module crypto.lock\nuse tools\nuse crypto.key\n";
  std::ofstream(root / "app" / "crypto" / "key.tri") << "module key\n";
  std::ofstream(root / "more" / "extra" / "far.tri") << "module extra.far\n";
  const std::string file = (root / "app" / "crypto" / "lock.tri").string();
  std::vector<Error> errors;
  const Loader loader = DefaultLoader(file, {(root / "more").string()});
  const Result<Package> package = Load(
      "module crypto.lock\nuse tools\nuse crypto.key\nuse extra.far\nuse std.hash\nuse "
      "vm.core.field\n",
      file, loader, &errors);
  ASSERT_TRUE(package.has_value()) << package.error().ToString();
  EXPECT_EQ(Names(*package),
            (std::vector<std::string>{"tools", "crypto.key", "extra.far", "std.hash",
                                      "vm.core.field", "crypto.lock"}));
  EXPECT_FALSE(loader("extra").has_value());
  EXPECT_FALSE(loader("").has_value());
  fs::remove_all(root);
}

TEST(Modules, LibraryIsComplete) {
  const std::vector<std::string> names = StandardModules();
  for (const char* wanted : {"std.field", "std.u32", "std.io", "std.hash", "std.merkle",
                             "std.bigint", "std.xfield", "std.poly", "std.nn", "vm.core.field"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), wanted), names.end()) << wanted;
  }
  const Loader loader = DefaultLoader("");
  for (const std::string& name : names) {
    const std::optional<Source> source = loader(name);
    ASSERT_TRUE(source.has_value());
    std::vector<Error> errors;
    EXPECT_TRUE(Load(source->text, source->file, loader, &errors).has_value()) << name;
    ReadResult read = Read(source->text, source->file);
    EXPECT_EQ(Format(read.module), source->text) << name << " is not formatted";
    EXPECT_EQ(read.module.name.ToString(), name);
  }
}

}  // namespace
}  // namespace frazil::frontends::trident
