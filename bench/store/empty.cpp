// An empty C++ program: what any process costs. It uses the C++ library, as ours does.
#include <string>

int main(int argc, char** argv) { return std::string(argv[argc - 1]).empty() ? 1 : 0; }
