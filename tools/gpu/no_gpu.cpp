// The driver of tests, for frazil-gpu without a GPU.
#include "targets/cuda/driver/test_driver.h"
