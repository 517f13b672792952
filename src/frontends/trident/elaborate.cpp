// The whole way from a package to a checked program: declarations, then every function that can be made, then those that
// the entry reaches.
#include "frontends/trident/elaborate.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "frontends/trident/body.h"
#include "ir/check/check.h"

namespace frazil::frontends::trident {

namespace {

// Instances of generic functions, for each size one; without a limit, functions that call larger ones of each other would never end.
constexpr size_t MaxInstances = 10'000;
constexpr size_t MaxErrors = 200;

}  // namespace

Elaborator::Elaborator(const Package& package, const Options& opts, std::vector<Error>* errors)
    : options(opts), package_(package), errors_(errors) {}

void Elaborator::Complain(const Module* module, Diag diag, Location location, std::string message,
                          std::string hint) {
  Error error{diag, std::move(message), location, module == nullptr ? std::string() : module->file,
              std::move(hint)};
  if (!said_.insert(error.ToString()).second) return;
  ++error_count_;
  if (errors_->size() < MaxErrors) errors_->push_back(std::move(error));
}

void Elaborator::Warn(const Module* module, Diag diag, Location location, std::string message,
                      std::string hint) {
  Error error{diag, std::move(message), location, module == nullptr ? std::string() : module->file,
              std::move(hint)};
  if (said_.insert(error.ToString()).second) warnings_.push_back(std::move(error));
}

bool Elaborator::Step(const Module* module, Location location) {
  if (stopped_) return false;
  if (++steps_ <= options.limits.program_insts) return true;
  stopped_ = true;
  Complain(module, Diag::TooWide, location,
           fmt::format("the program needs more than --max-insts {} instructions",
                       options.limits.program_insts));
  return false;
}

void Elaborator::CountInsts(const Module* module, const ir::Function& function, Location location) {
  inst_count_ += function.insts.size();
  if (stopped_ || inst_count_ <= options.limits.program_insts) return;
  stopped_ = true;
  Complain(module, Diag::TooWide, location,
           fmt::format("the program needs more than --max-insts {} instructions",
                       options.limits.program_insts));
}

std::optional<ir::DataId> Elaborator::Table(Found<ConstDecl> constant) {
  auto known = tables_.find(constant.decl);
  if (known != tables_.end()) return known->second;
  std::optional<ir::DataId>& table = tables_[constant.decl];
  const TypeInfo& type = types[ConstType(constant)];
  const Expr& value = *constant.decl->value;
  if (type.kind != TypeKind::Array || value.kind != Expr::Kind::Array ||
      value.operands.size() != type.size || !value.sizes.empty())
    return table;
  const TypeId element = type.parts[0];
  if (element != TypeTable::Field && element != TypeTable::U32) return table;
  ir::Data data{fmt::format("{}.{}", constant.module->name.ToString(), constant.decl->name),
                types[element].leaves[0],
                {}};
  for (const ExprPtr& operand : value.operands) {
    auto word = FoldConst(constant.module, *operand, element);
    if (!word) return table;
    data.words.push_back(*word);
  }
  table = ir::DataId(static_cast<uint32_t>(program.data.size()));
  program.data.push_back(std::move(data));
  return table;
}

ir::DataId Elaborator::AddText(const std::string& text) {
  ir::Data data{fmt::format("asm.{}", program.data.size()), ir::types::U8, {}};
  for (char c : text) data.words.push_back(static_cast<uint8_t>(c));
  program.data.push_back(std::move(data));
  return ir::DataId(static_cast<uint32_t>(program.data.size() - 1));
}

const Instance* Elaborator::Instantiate(const FunctionDecl* decl, const Module* module,
                                        std::vector<uint64_t> sizes, Location at,
                                        const Module* from) {
  auto key = std::pair(decl, sizes);
  if (auto known = instances_.find(key); known != instances_.end())
    return known->second.result == TypeTable::Error ? nullptr : &known->second;
  generic_count_ += !sizes.empty();
  if (generic_count_ > MaxInstances || stopped_) {
    if (!stopped_)
      Complain(from, Diag::TooWide, at,
               fmt::format("generic functions are used with more than {} sizes", MaxInstances));
    stopped_ = true;
    return nullptr;
  }
  Instance& instance = instances_[key];
  instance.decl = decl;
  instance.module = module;
  instance.sizes = std::move(sizes);
  Sizes known;
  for (size_t i = 0; i < instance.sizes.size(); ++i) known[decl->sizes[i]] = instance.sizes[i];
  bool wrong = false;
  uint64_t words = 0;
  for (const Param& param : decl->params) {
    const TypeId type = Resolve(module, param.type, known);
    wrong = wrong || type == TypeTable::Error;
    words += types[type].words;
    instance.params.push_back(type);
    instance.in_memory.push_back(types[type].has_array &&
                                 facts(decl).in_memory.contains(param.name));
  }
  instance.result = decl->result ? Resolve(module, *decl->result, known) : TypeTable::Unit;
  if (words > MaxValueWords)
    Complain(
        module, Diag::TooWide, decl->location,
        fmt::format("the parameters of '{}' have more than {} words", decl->name, MaxValueWords));
  if (wrong || words > MaxValueWords) instance.result = TypeTable::Error;
  if (instance.result == TypeTable::Error) return nullptr;
  instance.needs_ram = facts(decl).needs_ram;
  ir::Function function;
  const bool own = module == package_.modules.back().get();
  function.name = own ? decl->name : module->name.ToString() + "." + decl->name;
  for (uint64_t size : instance.sizes) function.name += fmt::format(".{}", size);
  // More than the machine's stack holds with ease is better written to where it will be read.
  constexpr uint64_t ManyWords = 8;
  instance.result_in_memory =
      types[instance.result].has_array && types[instance.result].words >= ManyWords;
  if (!instance.result_in_memory) function.results = types[instance.result].leaves;
  instance.function = ir::FuncId(static_cast<uint32_t>(program.functions.size()));
  program.functions.push_back(std::move(function));
  work_.push_back(&instance);
  return &instance;
}

namespace {

// Callers need the signature alone.
void ForgetBody(ir::Function& function) {
  ir::Function signature;
  signature.name = std::move(function.name);
  signature.results = std::move(function.results);
  function = std::move(signature);
}

}  // namespace

void Elaborator::RunWork() {
  while (!work_.empty() && !stopped_) {
    const Instance* instance = work_.front();
    work_.pop_front();
    made_.insert(instance->decl);
    Body(*this, *instance).Run();
    if (!build_) ForgetBody(program.functions[instance->function.index]);
  }
}

void Elaborator::CheckConstants() {
  for (const auto& module : package_.modules) {
    for (const ConstDecl& constant : module->constants) {
      if (!Holds(constant.attributes)) continue;
      static const FunctionDecl nobody{};
      Instance instance;
      instance.decl = &nobody;
      instance.module = module.get();
      instance.function = ir::FuncId(static_cast<uint32_t>(program.functions.size()));
      program.functions.emplace_back();
      // The empty function stays until Keep: what the value needs may have come after it.
      Body(*this, instance).CheckConstant(constant);
    }
  }
}

// A generic function that nobody calls has no sizes. It is tried with some: what is wrong with all of them is wrong.
void Elaborator::CheckGenerics() {
  for (const auto& module : package_.modules) {
    for (const FunctionDecl& function : module->functions) {
      if (function.sizes.empty() || !function.body || !Holds(function.attributes) ||
          made_.contains(&function) || stopped_)
        continue;
      std::vector<Error> common;
      bool first = true;
      for (uint64_t size : {4, 1, 7}) {
        std::vector<Error> found;
        std::vector<Error>* const errors = errors_;
        const auto said = said_;
        const uint32_t count = error_count_;
        errors_ = &found;
        std::vector<uint64_t> sizes(function.sizes.size());
        for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = size + i;
        Instantiate(&function, module.get(), std::move(sizes), function.location, module.get());
        RunWork();
        errors_ = errors;
        said_ = said;
        error_count_ = count;
        auto same = [&](const Error& a) {
          return std::any_of(found.begin(), found.end(), [&](const Error& b) {
            return a.diag == b.diag && a.location.line == b.location.line &&
                   a.location.column == b.location.column;
          });
        };
        if (first)
          common = found;
        else
          std::erase_if(common, [&](const Error& a) { return !same(a); });
        first = false;
      }
      for (Error& error : common) {
        if (!said_.insert(error.ToString()).second) continue;
        ++error_count_;
        errors_->push_back(std::move(error));
      }
    }
  }
}

void Elaborator::Keep(ir::FuncId entry) {
  const size_t count = program.functions.size();
  std::vector<uint32_t> place(count, UINT32_MAX);
  std::vector<uint32_t> order, stack = {entry.index};
  place[entry.index] = 0;
  while (!stack.empty()) {
    const uint32_t at = stack.back();
    stack.pop_back();
    order.push_back(at);
    for (const ir::Inst& inst : program.functions[at].insts) {
      if (inst.op != ir::Op::Call) continue;
      const uint32_t callee =
          static_cast<uint32_t>(program.functions[at].words[inst.attributes.begin]);
      if (place[callee] != UINT32_MAX) continue;
      place[callee] = 0;
      stack.push_back(callee);
    }
  }
  // The entry stands last: the text form takes the last function where none is called main.
  std::reverse(order.begin(), order.end());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<std::string> files(count);
  for (const auto& [key, instance] : instances_)
    if (instance.result != TypeTable::Error) files[instance.function.index] = instance.module->file;
  std::vector<ir::Function> kept;
  for (uint32_t at : order) {
    kept.push_back(std::move(program.functions[at]));
    files_.push_back(std::move(files[at]));
  }
  for (ir::Function& function : kept)
    for (const ir::Inst& inst : function.insts)
      if (inst.op == ir::Op::Call) {
        uint64_t& word = function.words[inst.attributes.begin];
        word = place[word];
      }
  program.functions = std::move(kept);
  program.entry = ir::FuncId(static_cast<uint32_t>(order.size() - 1));
  KeepData();
  if (pow_.valid() && place[pow_.index] != UINT32_MAX) PlaceHelper(place[pow_.index]);
}

// A function of ours has the place of its calls if they stand in one line; of several nobody could tell which it was.
void Elaborator::PlaceHelper(uint32_t function) {
  std::set<std::pair<std::string, uint32_t>> lines;
  Location location;
  for (size_t i = 0; i < program.functions.size(); ++i)
    for (const ir::Inst& inst : program.functions[i].insts) {
      if (inst.op != ir::Op::Call) continue;
      if (program.functions[i].words[inst.attributes.begin] != function) continue;
      lines.emplace(files_[i], inst.location.line);
      location = inst.location;
    }
  if (lines.size() != 1) return;
  for (ir::Inst& inst : program.functions[function].insts) inst.location = location;
  files_[function] = lines.begin()->first;
}

void Elaborator::KeepData() {
  std::vector<uint64_t*> uses;
  for (ir::Function& function : program.functions)
    for (const ir::Inst& inst : function.insts)
      if (inst.op == ir::Op::Lookup || inst.op == ir::Op::Tasm)
        uses.push_back(&function.words[inst.attributes.begin]);
  std::vector<uint64_t> place(program.data.size(), UINT64_MAX);
  std::vector<ir::Data> kept;
  for (uint64_t* use : uses) {
    if (place[*use] == UINT64_MAX) {
      place[*use] = kept.size();
      kept.push_back(std::move(program.data[*use]));
    }
    *use = place[*use];
  }
  program.data = std::move(kept);
}

const FunctionDecl* Elaborator::Entry() {
  const Module* module = package_.modules.back().get();
  const std::string name = options.function.empty() ? "main" : options.function;
  auto& known = names(module).functions;
  auto it = known.find(name);
  if (it == known.end() || (!it->second->body && !it->second->attributes.empty())) {
    if (!module->is_program || !options.function.empty())
      Complain(module, Diag::UnknownName, module->name.location,
               fmt::format("'{}' has no function '{}' to build", module->name.ToString(), name),
               options.function.empty() ? "a module is built function by function" : "");
    return nullptr;
  }
  if (it->second->sizes.size() != options.sizes.size()) {
    Complain(module, Diag::WrongArguments, it->second->location,
             fmt::format("'{}' has {} size parameters, got {}", name, it->second->sizes.size(),
                         options.sizes.size()));
    return nullptr;
  }
  return it->second;
}

// A caller outside gives one value for each scalar; arrays that the function has in memory are put there first.
ir::FuncId Elaborator::Wrap(const Instance& instance) {
  if (!instance.result_in_memory && std::find(instance.in_memory.begin(), instance.in_memory.end(),
                                              true) == instance.in_memory.end())
    return instance.function;
  return Body(*this, instance).RunWrapper();
}

std::optional<Built> Elaborator::Run(bool build) {
  build_ = build;
  if (package_.modules.empty()) {
    Complain(nullptr, Diag::BadDeclaration, {}, "there is no module to build");
    return std::nullopt;
  }
  Collect();
  std::vector<const FunctionDecl*> order;
  if (!Order(&order)) return std::nullopt;
  SpreadFacts(order);
  CheckDeclarations();
  CheckConstants();
  const FunctionDecl* entry = build ? Entry() : nullptr;
  const Module* last = package_.modules.back().get();
  const Instance* instance =
      entry == nullptr ? nullptr : Instantiate(entry, last, options.sizes, entry->location, last);
  for (const auto& module : package_.modules)
    for (const FunctionDecl& function : module->functions)
      if (function.sizes.empty() && function.body && Holds(function.attributes))
        Instantiate(&function, module.get(), {}, function.location, module.get());
  RunWork();
  if (!stopped_) CheckGenerics();
  if (error_count_ == 0 && !build) return Built{{}, std::move(warnings_), {}};
  if (error_count_ != 0 || instance == nullptr) return std::nullopt;
  Keep(Wrap(*instance));
  if (auto checked = ir::Check(program, options.limits); !checked) {
    Error error = checked.error();
    Complain(last, error.diag, error.location, error.message);
    return std::nullopt;
  }
  CheckStreams();
  if (error_count_ != 0) return std::nullopt;
  return Built{std::move(program), std::move(warnings_), std::move(files_)};
}

namespace {

Result<Built> RunAll(const Package& package, const Options& options, std::vector<Error>* errors,
                     bool build) {
  std::vector<Error> own;
  if (errors == nullptr) errors = &own;
  auto built = Elaborator(package, options, errors).Run(build);
  if (built) return std::move(*built);
  // In the order of the text, so that the first one is the first to be mended.
  std::sort(errors->begin(), errors->end(), [](const Error& a, const Error& b) {
    return std::tie(a.file, a.location.line, a.location.column, a.message) <
           std::tie(b.file, b.location.line, b.location.column, b.message);
  });
  if (errors->empty()) return Fail(Diag::Internal, "the program was not built and nobody said why");
  return std::unexpected(errors->front());
}

}  // namespace

Result<Built> Build(const Package& package, const Options& options, std::vector<Error>* errors) {
  return RunAll(package, options, errors, true);
}

Result<std::vector<Error>> CheckAll(const Package& package, const Options& options,
                                    std::vector<Error>* errors) {
  return TRY(RunAll(package, options, errors, false)).warnings;
}

std::vector<std::string> Tests(const Package& package) {
  std::vector<std::string> names;
  if (package.modules.empty()) return names;
  for (const FunctionDecl& function : package.modules.back()->functions)
    for (const Attribute& attribute : function.attributes)
      if (attribute.name == "test") names.push_back(function.name);
  return names;
}

}  // namespace frazil::frontends::trident
