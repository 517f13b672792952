// A second opinion on the same bytes: node (V8) runs modules with random arguments and must give
// what the interpreter gives. Floats cross into JavaScript as numbers, so NaN is compared as NaN.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "targets/wasm/emit/representation.h"
#include "targets/wasm/module/module_reader.h"
#include "targets/wasm/test_tools.h"

namespace frazil::targets::wasm {
namespace {

constexpr std::string_view Script = R"js(
import fs from 'node:fs';
const folder = process.argv[2];
let wrong = 0, runs = 0;
const equal = (a, b) => a !== 0 || typeof a === 'bigint' || 1 / a === 1 / b;
const same = (a, b) => a === b ? equal(a, b) : a !== a && b !== b;
const value = ([type, text]) => type === 'i64' ? BigInt.asIntN(64, BigInt(text)) :
    type === 'i32' ? Number(BigInt.asIntN(32, BigInt(text))) :
    Number(text.replace('inf', 'Infinity'));
for (const test of JSON.parse(fs.readFileSync(folder + '/cases.json', 'utf8'))) {
  const module = new WebAssembly.Module(fs.readFileSync(`${folder}/${test.wasm}`));
  if (WebAssembly.Module.imports(module).length) { console.log(test.wasm, 'has imports'); wrong++; }
  const exports = new WebAssembly.Instance(module).exports;
  if (test.memory.length) {
    const end = test.memory[test.memory.length - 1].end;
    const missing = end - exports.memory.buffer.byteLength;
    if (missing > 0) exports.memory.grow(Math.ceil(missing / 65536));
    const bytes = new Uint8Array(exports.memory.buffer);
    for (const region of test.memory) bytes.set(Buffer.from(region.before, 'hex'), region.at);
    if (exports.heap) exports.heap.value = end;
  }
  let results = exports.main(...test.arguments.map(value));
  results = results === undefined ? [] : Array.isArray(results) ? results : [results];
  const expected = test.results.map(value);
  runs++;
  if (results.length !== expected.length || results.some((r, i) => !same(r, expected[i]))) {
    console.log(test.wasm, 'gave', results, 'not', expected);
    wrong++;
  }
  for (const region of test.memory) {
    const bytes = Buffer.from(exports.memory.buffer, region.at, region.after.length / 2);
    if (bytes.toString('hex') === region.after) continue;
    console.log(test.wasm, 'wrote', bytes.toString('hex'), 'not', region.after);
    wrong++;
  }
}
console.log(`${runs} runs, ${wrong} wrong`);
process.exit(wrong ? 1 : 0);
)js";

std::string HexOf(const exec::Memory& memory) {
  std::string text;
  for (uint64_t i = 0; i < memory.size_bytes(); ++i)
    text += fmt::format("{:02x}", static_cast<uint8_t>(memory.data()[i]));
  return text;
}

bool IsNan(const exec::Value& value) {
  if (value.type == ir::types::F32)
    return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(value.word)));
  return value.type == ir::types::F64 && std::isnan(std::bit_cast<double>(value.word));
}

// ["i64", "17"] for each word, as the module's entry takes or gives it.
std::string JsonWords(const exec::Value& value) {
  std::string text;
  for (uint64_t word : value.scalar_words()) {
    std::string number = fmt::format("{}", static_cast<int64_t>(word));
    if (value.type == ir::types::F32)
      number = fmt::format("{}", double{std::bit_cast<float>(static_cast<uint32_t>(word))});
    if (value.type == ir::types::F64) number = fmt::format("{}", std::bit_cast<double>(word));
    text += fmt::format("{}[\"{}\", \"{}\"]", text.empty() ? "" : ", ",
                        ValTypeName(WordType(value.type)), number);
  }
  return text;
}

struct NodeCase {
  std::string json;
  bool usable = false;
};

NodeCase MakeCase(const ir::Program& program, const std::string& file,
                  std::string_view module_bytes, uint64_t seed) {
  std::vector<exec::Value> arguments = exec::RandomArguments(program, seed);
  uint64_t address = 16;
  ModuleView module = ReadModule(module_bytes).value();
  for (const ModuleView::Data& data : module.data)
    address = std::max<uint64_t>(address, (data.address + data.bytes.size() + 15) / 16 * 16);
  std::vector<std::string> before;
  std::vector<uint64_t> places;
  std::string words, regions, results;
  for (exec::Value& argument : arguments) {
    if (IsNan(argument)) argument = exec::Value::Float(argument.type, 1.5);
    if (argument.type.is_buffer()) {
      size_t i = 0;
      while (&arguments[i] != &argument && arguments[i].memory != argument.memory) ++i;
      if (&arguments[i] != &argument) return {};  // aliased: the host's own tests cover it
      places.push_back(address);
      before.push_back(HexOf(*argument.memory));
      words += fmt::format("{}[\"i32\", \"{}\"], [\"i64\", \"{}\"]", words.empty() ? "" : ", ",
                           address, argument.memory->length());
      address = (address + argument.memory->size_bytes() + 15) / 16 * 16;
    } else {
      words += fmt::format("{}{}", words.empty() ? "" : ", ", JsonWords(argument));
    }
  }
  Result<exec::Outcome> outcome = exec::Interpret(program, arguments);
  if (!outcome || outcome->trap) return {};
  for (const exec::Value& result : outcome->results)
    results += fmt::format("{}{}", results.empty() ? "" : ", ", JsonWords(result));
  size_t region = 0;
  for (const exec::Value& argument : arguments) {
    if (!argument.type.is_buffer()) continue;
    regions += fmt::format("{}{{\"at\": {}, \"before\": \"{}\", \"after\": \"{}\", \"end\": {}}}",
                           regions.empty() ? "" : ", ", places[region], before[region],
                           HexOf(*argument.memory), address);
    ++region;
  }
  return {
      fmt::format("{{\"wasm\": \"{}\", \"arguments\": [{}], \"results\": [{}], \"memory\": [{}]}}",
                  file, words, results, regions),
      true};
}

TEST(Node, GivesTheSameAnswers) {
  TemporaryFolder folder;
  std::string cases;
  size_t count = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    ir::Program program = generator::Generate({.seed = 7000 + seed,
                                               .size = 16,
                                               .allow_traps = false,
                                               .allow_tensors = false,
                                               .allow_streams = false});
    exec::Artifact artifact = Emitted(program);
    std::string file = fmt::format("{}.wasm", seed);
    folder.Write(file, artifact.bytes);
    for (uint64_t k = 0; k < 3; ++k) {
      NodeCase one = MakeCase(program, file, artifact.bytes, seed * 10 + k);
      if (!one.usable) continue;
      cases += (cases.empty() ? "" : ",\n") + one.json;
      ++count;
    }
  }
  EXPECT_GT(count, 200u);
  folder.Write("cases.json", "[" + cases + "]");
  folder.Write("run.mjs", Script);
  std::string output;
  int code = RunTool("node " + folder.path() + "/run.mjs " + folder.path(), output);
  EXPECT_EQ(code, 0) << output.substr(0, 4000);
  EXPECT_NE(output.find(fmt::format("{} runs, 0 wrong", count)), std::string::npos)
      << output.substr(0, 4000);
}

// A host that only calls: what a trapping call has taken, memory, depth or the iteration it was in, the next one has again.
TEST(Node, TrapsUseNothingUp) {
  TemporaryFolder folder;
  folder.Write("scratch.wasm", Emitted(Parsed(R"(func @main(%a: i32, %b: i32) -> (i32) {
  %n = const 524288 : index
  %s = alloc %n : u32
  %q = div.trunc %a, %b : i32
  return %q
}
)"))
                                   .bytes);
  folder.Write("frames.wasm", Emitted(Parsed(R"(func @wide(%x: int<64>, %y: int<64>) -> (int<64>) {
  %q = div.checked %x, %y : int<64>
  return %q
}
func @main(%a: i32, %b: i32) -> (i32) {
  %x = cast.checked %a : int<64>
  %y = cast.checked %b : int<64>
  %r = call @wide(%x, %y)
  %q = cast.checked %r : i32
  return %q
}
)"))
                                  .bytes);
  folder.Write("lanes.wasm", Emitted(Parsed(R"(func @divide(%a: i32, %b: i32) -> (i32) {
  %q = div.trunc %a, %b : i32
  return %q
}
func @main(%a: i32, %b: i32) -> (i32) {
  %r = call @divide(%a, %b)
  %zero = const 0 : index
  %ten = const 10 : index
  parallel %i = %zero to %ten {
    %k = cast %i : i32
    %d = sub %b, %k : i32
    %m = call @divide(%a, %d)
    yield
  }
  return %r
}
)"))
                                 .bytes);
  folder.Write("run.mjs", R"js(
import fs from 'node:fs';
const check = (what, seen, wanted) => { if (seen !== wanted) console.log('wrong', what, seen, wanted); };
for (const name of ['scratch', 'frames', 'lanes']) {
  const module = new WebAssembly.Module(fs.readFileSync(`${process.argv[2]}/${name}.wasm`));
  const exports = new WebAssembly.Instance(module).exports;
  let trapped = 0;
  for (let i = 0; i < 1000; i++) {
    // In lanes the 4th iteration divides by 0, or the call before them.
    try { exports.main(42, name === 'lanes' && i % 2 ? 3 : 0); } catch (e) { trapped++; }
    if (name === 'lanes') check('iteration', exports.trap_index.value, i % 2 ? 3n : -1n);
  }
  check(name + ' traps', trapped, 1000);
  check(name + ' result', exports.main(42, 20), 2);
  if (exports.trap) check(name + ' trap', exports.trap.value, 0n);
}
console.log('done');
)js");
  std::string output;
  RunTool("node " + folder.path() + "/run.mjs " + folder.path(), output);
  EXPECT_EQ(output, "done\n");
}

}  // namespace
}  // namespace frazil::targets::wasm
