"""IREE: tensor programs in MLIR, compiled to PTX by LLVM. Products, with tensor cores too, convolution, softmax, sums, a sort, a loop, mathematics."""

import sys

import iree.compiler
import iree.runtime
import numpy as np

PROGRAM = """
func.func @product(%a: tensor<64x96xf32>, %b: tensor<96x48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x48xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x96xf32>, tensor<96x48xf32>) outs(%begin : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %c : tensor<64x48xf32>
}
func.func @half_product(%a: tensor<128x128xf16>, %b: tensor<128x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x128xf16>, tensor<128x128xf16>) outs(%begin : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
}
func.func @convolution(%x: tensor<1x20x20x3xf32>, %k: tensor<3x3x3x8xf32>) -> tensor<1x18x18x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x18x18x8xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x18x18x8xf32>) -> tensor<1x18x18x8xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x20x20x3xf32>, tensor<3x3x3x8xf32>) outs(%begin : tensor<1x18x18x8xf32>) -> tensor<1x18x18x8xf32>
  return %y : tensor<1x18x18x8xf32>
}
func.func @softmax(%x: tensor<16x1000xf32>) -> tensor<16x1000xf32> {
  %empty = tensor.empty() : tensor<16x1000xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<16x1000xf32>) outs(%empty : tensor<16x1000xf32>) -> tensor<16x1000xf32>
  return %y : tensor<16x1000xf32>
}
func.func @sum(%x: tensor<100000xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %begin = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %y = linalg.reduce { arith.addf } ins(%x : tensor<100000xf32>) outs(%begin : tensor<f32>) dimensions = [0]
  return %y : tensor<f32>
}
func.func @sorted(%x: tensor<64xi32>) -> tensor<64xi32> {
  %y = iree_linalg_ext.sort dimension(0) outs(%x : tensor<64xi32>) {
  ^bb0(%a: i32, %b: i32):
    %before = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %before : i1
  } -> tensor<64xi32>
  return %y : tensor<64xi32>
}
func.func @halved(%x: tensor<1024xf32>, %times: i32) -> tensor<1024xf32> {
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = arith.index_cast %times : i32 to index
  %half = arith.constant dense<0.5> : tensor<1024xf32>
  %y = scf.for %i = %from to %to step %step iter_args(%now = %x) -> tensor<1024xf32> {
    %next = arith.mulf %now, %half : tensor<1024xf32>
    scf.yield %next : tensor<1024xf32>
  }
  return %y : tensor<1024xf32>
}
func.func @mathematics(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = math.exp %x : tensor<1024xf32>
  %b = math.sin %a : tensor<1024xf32>
  %c = math.tanh %b : tensor<1024xf32>
  %d = math.sqrt %a : tensor<1024xf32>
  %y = arith.mulf %c, %d : tensor<1024xf32>
  return %y : tensor<1024xf32>
}
"""

wrong = 0


def check(what, got, expected, within=1e-5):
    global wrong
    if not np.allclose(np.asarray(got), expected, rtol=within, atol=within):
        print(f"{what}: {np.asarray(got).ravel()[:4]} instead of {np.ravel(expected)[:4]}")
        wrong = 1


image = iree.compiler.compile_str(PROGRAM, target_backends=["cuda"], extra_args=["--iree-cuda-target=sm_80"])
module = iree.runtime.load_vm_flatbuffer(image, driver="cuda")
random = np.random.default_rng(1)


def numbers(*shape):
    return random.random(shape, dtype=np.float32)


a, b = numbers(64, 96), numbers(96, 48)
check("a product", module.product(a, b), a @ b)
a, b = numbers(128, 128).astype(np.float16), numbers(128, 128).astype(np.float16)
check("a product of halves", module.half_product(a, b), a.astype(np.float32) @ b.astype(np.float32), 1e-3)
x, k = numbers(1, 20, 20, 3), numbers(3, 3, 3, 8)
windows = np.lib.stride_tricks.sliding_window_view(x[0], (3, 3), axis=(0, 1))
check("a convolution", module.convolution(x, k), np.einsum("yxcij,ijcf->yxf", windows, k)[None], 1e-4)
x = numbers(16, 1000)
e = np.exp(x - x.max(axis=1, keepdims=True))
check("softmax", module.softmax(x), e / e.sum(axis=1, keepdims=True))
x = numbers(100000)
check("a sum", module.sum(x), x.sum(dtype=np.float64), 1e-4)
x = random.permutation(64).astype(np.int32)
check("a sort", module.sorted(x), np.arange(64))
x = numbers(1024)
check("a loop", module.halved(x, 5), x / 32)
check("mathematics", module.mathematics(x), np.tanh(np.sin(np.exp(x))) * np.sqrt(np.exp(x)))
if not wrong:
    print("all as expected")
sys.exit(wrong)
