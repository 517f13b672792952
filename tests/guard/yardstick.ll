; ModuleID = 'frazil'
source_filename = "frazil"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nounwind
define hidden i32 @frazil_entry(ptr %0, ptr %1, ptr %2) #0 {
start:
  %3 = getelementptr inbounds i64, ptr %0, i64 0
  %4 = load ptr, ptr %3, align 8
  %5 = getelementptr inbounds i64, ptr %0, i64 1
  %6 = load i64, ptr %5, align 8
  %7 = getelementptr inbounds i64, ptr %0, i64 2
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds i64, ptr %0, i64 3
  %10 = load i64, ptr %9, align 8
  %11 = getelementptr inbounds i64, ptr %0, i64 4
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds i64, ptr %0, i64 5
  %14 = load i64, ptr %13, align 8
  %15 = sub i64 %14, 0
  %16 = icmp slt i64 0, %14
  %17 = icmp ult i64 0, %6
  %18 = sub i64 %6, 0
  %19 = icmp ule i64 %15, %18
  %20 = and i1 %17, %19
  %21 = getelementptr inbounds i32, ptr %4, i64 0
  %22 = icmp ult i64 0, %10
  %23 = and i1 %20, %22
  %24 = sub i64 %10, 0
  %25 = icmp ule i64 %15, %24
  %26 = and i1 %23, %25
  %27 = getelementptr inbounds i32, ptr %8, i64 0
  %28 = icmp ult i64 0, %14
  %29 = and i1 %26, %28
  %30 = sub i64 %14, 0
  %31 = icmp ule i64 %15, %30
  %32 = and i1 %29, %31
  %33 = getelementptr inbounds i32, ptr %12, i64 0
  %34 = and i1 %16, %32
  br i1 %34, label %vector, label %scalar

scalar:                                           ; preds = %start
  %35 = icmp slt i64 0, %14
  br i1 %35, label %turn, label %after9

done:                                             ; preds = %after9, %tail4, %after
  ret i32 0

vector:                                           ; preds = %start
  %36 = ptrtoint ptr %33 to i64
  %37 = and i64 %36, 3
  %38 = icmp eq i64 %37, 0
  %39 = icmp ne ptr %12, %4
  %40 = and i1 %38, %39
  %41 = icmp ne ptr %12, %8
  %42 = and i1 %40, %41
  %43 = sub i64 0, %36
  %44 = and i64 %43, 63
  %45 = udiv i64 %44, 4
  %46 = icmp uge i64 %15, 2796202
  %47 = and i1 %42, %46
  %48 = icmp uge i64 %15, 4096
  %49 = and i1 %47, %48
  br i1 %49, label %stream, label %plain

after:                                            ; preds = %main.end, %plain, %stream.end
  %50 = phi i64 [ %240, %stream.end ], [ 0, %plain ], [ %336, %main.end ]
  %51 = icmp eq i64 %50, %15
  br i1 %51, label %done, label %tail4

stream:                                           ; preds = %vector
  %52 = trunc i64 %45 to i32
  %.splatinsert = insertelement <16 x i32> poison, i32 %52, i64 0
  %.splat = shufflevector <16 x i32> %.splatinsert, <16 x i32> poison, <16 x i32> zeroinitializer
  %tail = icmp ult <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %.splat
  %53 = getelementptr inbounds i32, ptr %21, i64 0
  %54 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 1 %53, <16 x i1> %tail, <16 x float> zeroinitializer)
  %55 = getelementptr inbounds i32, ptr %27, i64 0
  %56 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr align 1 %55, <16 x i1> %tail, <16 x float> zeroinitializer)
  %57 = fadd <16 x float> %56, %54
  %58 = fmul <16 x float> %57, %54
  %59 = fsub <16 x float> %58, %57
  %60 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %59, <16 x float> %54)
  %61 = fcmp uno <16 x float> %54, %54
  %62 = select <16 x i1> %61, <16 x float> %59, <16 x float> %60
  %63 = fcmp uno <16 x float> %59, %59
  %64 = select <16 x i1> %63, <16 x float> %54, <16 x float> %62
  %65 = fmul <16 x float> %64, %56
  %66 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %65, <16 x float> %57)
  %67 = fcmp uno <16 x float> %57, %57
  %68 = select <16 x i1> %67, <16 x float> %65, <16 x float> %66
  %69 = fcmp uno <16 x float> %65, %65
  %70 = select <16 x i1> %69, <16 x float> %57, <16 x float> %68
  %71 = fadd <16 x float> %70, %58
  %72 = fsub <16 x float> %71, %59
  %73 = fadd <16 x float> %72, %64
  %74 = fmul <16 x float> %73, %65
  %75 = fsub <16 x float> %74, %70
  %76 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %75, <16 x float> %56)
  %77 = fcmp uno <16 x float> %56, %56
  %78 = select <16 x i1> %77, <16 x float> %75, <16 x float> %76
  %79 = fcmp uno <16 x float> %75, %75
  %80 = select <16 x i1> %79, <16 x float> %56, <16 x float> %78
  %81 = fmul <16 x float> %80, %71
  %82 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %81, <16 x float> %54)
  %83 = fcmp uno <16 x float> %54, %54
  %84 = select <16 x i1> %83, <16 x float> %81, <16 x float> %82
  %85 = fcmp uno <16 x float> %81, %81
  %86 = select <16 x i1> %85, <16 x float> %54, <16 x float> %84
  %87 = fadd <16 x float> %86, %72
  %88 = fsub <16 x float> %87, %86
  %89 = fadd <16 x float> %88, %73
  %90 = fmul <16 x float> %89, %87
  %91 = fsub <16 x float> %90, %74
  %92 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %91, <16 x float> %88)
  %93 = fcmp uno <16 x float> %88, %88
  %94 = select <16 x i1> %93, <16 x float> %91, <16 x float> %92
  %95 = fcmp uno <16 x float> %91, %91
  %96 = select <16 x i1> %95, <16 x float> %88, <16 x float> %94
  %97 = fmul <16 x float> %96, %75
  %98 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %97, <16 x float> %89)
  %99 = fcmp uno <16 x float> %89, %89
  %100 = select <16 x i1> %99, <16 x float> %97, <16 x float> %98
  %101 = fcmp uno <16 x float> %97, %97
  %102 = select <16 x i1> %101, <16 x float> %89, <16 x float> %100
  %103 = fadd <16 x float> %102, %56
  %104 = fsub <16 x float> %103, %90
  %105 = fadd <16 x float> %104, %54
  %106 = fmul <16 x float> %105, %91
  %107 = fsub <16 x float> %106, %105
  %108 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %107, <16 x float> %96)
  %109 = fcmp uno <16 x float> %96, %96
  %110 = select <16 x i1> %109, <16 x float> %107, <16 x float> %108
  %111 = fcmp uno <16 x float> %107, %107
  %112 = select <16 x i1> %111, <16 x float> %96, <16 x float> %110
  %113 = fmul <16 x float> %112, %106
  %114 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %113, <16 x float> %97)
  %115 = fcmp uno <16 x float> %97, %97
  %116 = select <16 x i1> %115, <16 x float> %113, <16 x float> %114
  %117 = fcmp uno <16 x float> %113, %113
  %118 = select <16 x i1> %117, <16 x float> %97, <16 x float> %116
  %119 = fadd <16 x float> %118, %107
  %120 = fsub <16 x float> %119, %102
  %121 = fadd <16 x float> %120, %112
  %122 = fmul <16 x float> %121, %56
  %123 = fsub <16 x float> %122, %113
  %124 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %123, <16 x float> %54)
  %125 = fcmp uno <16 x float> %54, %54
  %126 = select <16 x i1> %125, <16 x float> %123, <16 x float> %124
  %127 = fcmp uno <16 x float> %123, %123
  %128 = select <16 x i1> %127, <16 x float> %54, <16 x float> %126
  %129 = fmul <16 x float> %128, %118
  %130 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %129, <16 x float> %128)
  %131 = fcmp uno <16 x float> %128, %128
  %132 = select <16 x i1> %131, <16 x float> %129, <16 x float> %130
  %133 = fcmp uno <16 x float> %129, %129
  %134 = select <16 x i1> %133, <16 x float> %128, <16 x float> %132
  %135 = fadd <16 x float> %134, %119
  %136 = fsub <16 x float> %135, %129
  %137 = fcmp uno <16 x float> %136, %136
  %138 = select <16 x i1> %137, <16 x float> splat (float 0x7FF8000000000000), <16 x float> %136
  %139 = getelementptr inbounds i32, ptr %33, i64 0
  call void @llvm.masked.store.v16f32.p0(<16 x float> %138, ptr align 1 %139, <16 x i1> %tail)
  %140 = sub i64 %15, %45
  %141 = urem i64 %140, 16
  %142 = sub i64 %15, %141
  br label %stream.main

plain:                                            ; preds = %vector
  %143 = urem i64 %15, 16
  %144 = sub i64 %15, %143
  %145 = icmp uge i64 %15, 16
  br i1 %145, label %main, label %after

stream.main:                                      ; preds = %numbers, %stream
  %trip = phi i64 [ %45, %stream ], [ %240, %numbers ]
  %146 = add i64 0, %trip
  %147 = getelementptr inbounds i32, ptr %21, i64 %trip
  %148 = load <16 x float>, ptr %147, align 1
  %149 = getelementptr inbounds i32, ptr %27, i64 %trip
  %150 = load <16 x float>, ptr %149, align 1
  %151 = fadd <16 x float> %150, %148
  %152 = fmul <16 x float> %151, %148
  %153 = fsub <16 x float> %152, %151
  %154 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %153, <16 x float> %148)
  %155 = fcmp uno <16 x float> %148, %148
  %156 = select <16 x i1> %155, <16 x float> %153, <16 x float> %154
  %157 = fcmp uno <16 x float> %153, %153
  %158 = select <16 x i1> %157, <16 x float> %148, <16 x float> %156
  %159 = fmul <16 x float> %158, %150
  %160 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %159, <16 x float> %151)
  %161 = fcmp uno <16 x float> %151, %151
  %162 = select <16 x i1> %161, <16 x float> %159, <16 x float> %160
  %163 = fcmp uno <16 x float> %159, %159
  %164 = select <16 x i1> %163, <16 x float> %151, <16 x float> %162
  %165 = fadd <16 x float> %164, %152
  %166 = fsub <16 x float> %165, %153
  %167 = fadd <16 x float> %166, %158
  %168 = fmul <16 x float> %167, %159
  %169 = fsub <16 x float> %168, %164
  %170 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %169, <16 x float> %150)
  %171 = fcmp uno <16 x float> %150, %150
  %172 = select <16 x i1> %171, <16 x float> %169, <16 x float> %170
  %173 = fcmp uno <16 x float> %169, %169
  %174 = select <16 x i1> %173, <16 x float> %150, <16 x float> %172
  %175 = fmul <16 x float> %174, %165
  %176 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %175, <16 x float> %148)
  %177 = fcmp uno <16 x float> %148, %148
  %178 = select <16 x i1> %177, <16 x float> %175, <16 x float> %176
  %179 = fcmp uno <16 x float> %175, %175
  %180 = select <16 x i1> %179, <16 x float> %148, <16 x float> %178
  %181 = fadd <16 x float> %180, %166
  %182 = fsub <16 x float> %181, %180
  %183 = fadd <16 x float> %182, %167
  %184 = fmul <16 x float> %183, %181
  %185 = fsub <16 x float> %184, %168
  %186 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %185, <16 x float> %182)
  %187 = fcmp uno <16 x float> %182, %182
  %188 = select <16 x i1> %187, <16 x float> %185, <16 x float> %186
  %189 = fcmp uno <16 x float> %185, %185
  %190 = select <16 x i1> %189, <16 x float> %182, <16 x float> %188
  %191 = fmul <16 x float> %190, %169
  %192 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %191, <16 x float> %183)
  %193 = fcmp uno <16 x float> %183, %183
  %194 = select <16 x i1> %193, <16 x float> %191, <16 x float> %192
  %195 = fcmp uno <16 x float> %191, %191
  %196 = select <16 x i1> %195, <16 x float> %183, <16 x float> %194
  %197 = fadd <16 x float> %196, %150
  %198 = fsub <16 x float> %197, %184
  %199 = fadd <16 x float> %198, %148
  %200 = fmul <16 x float> %199, %185
  %201 = fsub <16 x float> %200, %199
  %202 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %201, <16 x float> %190)
  %203 = fcmp uno <16 x float> %190, %190
  %204 = select <16 x i1> %203, <16 x float> %201, <16 x float> %202
  %205 = fcmp uno <16 x float> %201, %201
  %206 = select <16 x i1> %205, <16 x float> %190, <16 x float> %204
  %207 = fmul <16 x float> %206, %200
  %208 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %207, <16 x float> %191)
  %209 = fcmp uno <16 x float> %191, %191
  %210 = select <16 x i1> %209, <16 x float> %207, <16 x float> %208
  %211 = fcmp uno <16 x float> %207, %207
  %212 = select <16 x i1> %211, <16 x float> %191, <16 x float> %210
  %213 = fadd <16 x float> %212, %201
  %214 = fsub <16 x float> %213, %196
  %215 = fadd <16 x float> %214, %206
  %216 = fmul <16 x float> %215, %150
  %217 = fsub <16 x float> %216, %207
  %218 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %217, <16 x float> %148)
  %219 = fcmp uno <16 x float> %148, %148
  %220 = select <16 x i1> %219, <16 x float> %217, <16 x float> %218
  %221 = fcmp uno <16 x float> %217, %217
  %222 = select <16 x i1> %221, <16 x float> %148, <16 x float> %220
  %223 = fmul <16 x float> %222, %212
  %224 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %223, <16 x float> %222)
  %225 = fcmp uno <16 x float> %222, %222
  %226 = select <16 x i1> %225, <16 x float> %223, <16 x float> %224
  %227 = fcmp uno <16 x float> %223, %223
  %228 = select <16 x i1> %227, <16 x float> %222, <16 x float> %226
  %229 = fadd <16 x float> %228, %213
  %230 = fsub <16 x float> %229, %223
  %231 = shufflevector <16 x float> %230, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %232 = shufflevector <16 x float> %230, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %233 = fcmp uno <8 x float> %231, %232
  %234 = bitcast <8 x i1> %233 to i8
  %235 = icmp ne i8 %234, 0
  br i1 %235, label %nan, label %numbers, !prof !2

stream.end:                                       ; preds = %numbers
  call void @llvm.x86.sse.sfence()
  br label %after

nan:                                              ; preds = %stream.main
  %236 = fcmp uno <16 x float> %230, %230
  %237 = select <16 x i1> %236, <16 x float> splat (float 0x7FF8000000000000), <16 x float> %230
  br label %numbers

numbers:                                          ; preds = %nan, %stream.main
  %238 = phi <16 x float> [ %230, %stream.main ], [ %237, %nan ]
  %239 = getelementptr inbounds i32, ptr %33, i64 %trip
  store <16 x float> %238, ptr %239, align 64, !nontemporal !3
  %240 = add nuw i64 %trip, 16
  %241 = icmp ult i64 %240, %142
  br i1 %241, label %stream.main, label %stream.end

main:                                             ; preds = %numbers3, %plain
  %trip1 = phi i64 [ 0, %plain ], [ %336, %numbers3 ]
  %242 = add i64 0, %trip1
  %243 = getelementptr inbounds i32, ptr %21, i64 %trip1
  %244 = load <16 x float>, ptr %243, align 1
  %245 = getelementptr inbounds i32, ptr %27, i64 %trip1
  %246 = load <16 x float>, ptr %245, align 1
  %247 = fadd <16 x float> %246, %244
  %248 = fmul <16 x float> %247, %244
  %249 = fsub <16 x float> %248, %247
  %250 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %249, <16 x float> %244)
  %251 = fcmp uno <16 x float> %244, %244
  %252 = select <16 x i1> %251, <16 x float> %249, <16 x float> %250
  %253 = fcmp uno <16 x float> %249, %249
  %254 = select <16 x i1> %253, <16 x float> %244, <16 x float> %252
  %255 = fmul <16 x float> %254, %246
  %256 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %255, <16 x float> %247)
  %257 = fcmp uno <16 x float> %247, %247
  %258 = select <16 x i1> %257, <16 x float> %255, <16 x float> %256
  %259 = fcmp uno <16 x float> %255, %255
  %260 = select <16 x i1> %259, <16 x float> %247, <16 x float> %258
  %261 = fadd <16 x float> %260, %248
  %262 = fsub <16 x float> %261, %249
  %263 = fadd <16 x float> %262, %254
  %264 = fmul <16 x float> %263, %255
  %265 = fsub <16 x float> %264, %260
  %266 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %265, <16 x float> %246)
  %267 = fcmp uno <16 x float> %246, %246
  %268 = select <16 x i1> %267, <16 x float> %265, <16 x float> %266
  %269 = fcmp uno <16 x float> %265, %265
  %270 = select <16 x i1> %269, <16 x float> %246, <16 x float> %268
  %271 = fmul <16 x float> %270, %261
  %272 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %271, <16 x float> %244)
  %273 = fcmp uno <16 x float> %244, %244
  %274 = select <16 x i1> %273, <16 x float> %271, <16 x float> %272
  %275 = fcmp uno <16 x float> %271, %271
  %276 = select <16 x i1> %275, <16 x float> %244, <16 x float> %274
  %277 = fadd <16 x float> %276, %262
  %278 = fsub <16 x float> %277, %276
  %279 = fadd <16 x float> %278, %263
  %280 = fmul <16 x float> %279, %277
  %281 = fsub <16 x float> %280, %264
  %282 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %281, <16 x float> %278)
  %283 = fcmp uno <16 x float> %278, %278
  %284 = select <16 x i1> %283, <16 x float> %281, <16 x float> %282
  %285 = fcmp uno <16 x float> %281, %281
  %286 = select <16 x i1> %285, <16 x float> %278, <16 x float> %284
  %287 = fmul <16 x float> %286, %265
  %288 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %287, <16 x float> %279)
  %289 = fcmp uno <16 x float> %279, %279
  %290 = select <16 x i1> %289, <16 x float> %287, <16 x float> %288
  %291 = fcmp uno <16 x float> %287, %287
  %292 = select <16 x i1> %291, <16 x float> %279, <16 x float> %290
  %293 = fadd <16 x float> %292, %246
  %294 = fsub <16 x float> %293, %280
  %295 = fadd <16 x float> %294, %244
  %296 = fmul <16 x float> %295, %281
  %297 = fsub <16 x float> %296, %295
  %298 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %297, <16 x float> %286)
  %299 = fcmp uno <16 x float> %286, %286
  %300 = select <16 x i1> %299, <16 x float> %297, <16 x float> %298
  %301 = fcmp uno <16 x float> %297, %297
  %302 = select <16 x i1> %301, <16 x float> %286, <16 x float> %300
  %303 = fmul <16 x float> %302, %296
  %304 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %303, <16 x float> %287)
  %305 = fcmp uno <16 x float> %287, %287
  %306 = select <16 x i1> %305, <16 x float> %303, <16 x float> %304
  %307 = fcmp uno <16 x float> %303, %303
  %308 = select <16 x i1> %307, <16 x float> %287, <16 x float> %306
  %309 = fadd <16 x float> %308, %297
  %310 = fsub <16 x float> %309, %292
  %311 = fadd <16 x float> %310, %302
  %312 = fmul <16 x float> %311, %246
  %313 = fsub <16 x float> %312, %303
  %314 = call <16 x float> @llvm.maximum.v16f32(<16 x float> %313, <16 x float> %244)
  %315 = fcmp uno <16 x float> %244, %244
  %316 = select <16 x i1> %315, <16 x float> %313, <16 x float> %314
  %317 = fcmp uno <16 x float> %313, %313
  %318 = select <16 x i1> %317, <16 x float> %244, <16 x float> %316
  %319 = fmul <16 x float> %318, %308
  %320 = call <16 x float> @llvm.minimum.v16f32(<16 x float> %319, <16 x float> %318)
  %321 = fcmp uno <16 x float> %318, %318
  %322 = select <16 x i1> %321, <16 x float> %319, <16 x float> %320
  %323 = fcmp uno <16 x float> %319, %319
  %324 = select <16 x i1> %323, <16 x float> %318, <16 x float> %322
  %325 = fadd <16 x float> %324, %309
  %326 = fsub <16 x float> %325, %319
  %327 = shufflevector <16 x float> %326, <16 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %328 = shufflevector <16 x float> %326, <16 x float> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %329 = fcmp uno <8 x float> %327, %328
  %330 = bitcast <8 x i1> %329 to i8
  %331 = icmp ne i8 %330, 0
  br i1 %331, label %nan2, label %numbers3, !prof !2

main.end:                                         ; preds = %numbers3
  br label %after

nan2:                                             ; preds = %main
  %332 = fcmp uno <16 x float> %326, %326
  %333 = select <16 x i1> %332, <16 x float> splat (float 0x7FF8000000000000), <16 x float> %326
  br label %numbers3

numbers3:                                         ; preds = %nan2, %main
  %334 = phi <16 x float> [ %326, %main ], [ %333, %nan2 ]
  %335 = getelementptr inbounds i32, ptr %33, i64 %trip1
  store <16 x float> %334, ptr %335, align 1
  %336 = add nuw i64 %trip1, 16
  %337 = icmp ult i64 %336, %144
  br i1 %337, label %main, label %main.end

tail4:                                            ; preds = %tail4, %after
  %trip5 = phi i64 [ %50, %after ], [ %429, %tail4 ]
  %338 = sub i64 %15, %trip5
  %339 = call i64 @llvm.umin.i64(i64 %338, i64 8)
  %340 = add i64 0, %trip5
  %341 = trunc i64 %339 to i32
  %.splatinsert6 = insertelement <8 x i32> poison, i32 %341, i64 0
  %.splat7 = shufflevector <8 x i32> %.splatinsert6, <8 x i32> poison, <8 x i32> zeroinitializer
  %tail8 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %.splat7
  %342 = getelementptr inbounds i32, ptr %21, i64 %trip5
  %343 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 1 %342, <8 x i1> %tail8, <8 x float> zeroinitializer)
  %344 = getelementptr inbounds i32, ptr %27, i64 %trip5
  %345 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr align 1 %344, <8 x i1> %tail8, <8 x float> zeroinitializer)
  %346 = fadd <8 x float> %345, %343
  %347 = fmul <8 x float> %346, %343
  %348 = fsub <8 x float> %347, %346
  %349 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %348, <8 x float> %343)
  %350 = fcmp uno <8 x float> %343, %343
  %351 = select <8 x i1> %350, <8 x float> %348, <8 x float> %349
  %352 = fcmp uno <8 x float> %348, %348
  %353 = select <8 x i1> %352, <8 x float> %343, <8 x float> %351
  %354 = fmul <8 x float> %353, %345
  %355 = call <8 x float> @llvm.minimum.v8f32(<8 x float> %354, <8 x float> %346)
  %356 = fcmp uno <8 x float> %346, %346
  %357 = select <8 x i1> %356, <8 x float> %354, <8 x float> %355
  %358 = fcmp uno <8 x float> %354, %354
  %359 = select <8 x i1> %358, <8 x float> %346, <8 x float> %357
  %360 = fadd <8 x float> %359, %347
  %361 = fsub <8 x float> %360, %348
  %362 = fadd <8 x float> %361, %353
  %363 = fmul <8 x float> %362, %354
  %364 = fsub <8 x float> %363, %359
  %365 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %364, <8 x float> %345)
  %366 = fcmp uno <8 x float> %345, %345
  %367 = select <8 x i1> %366, <8 x float> %364, <8 x float> %365
  %368 = fcmp uno <8 x float> %364, %364
  %369 = select <8 x i1> %368, <8 x float> %345, <8 x float> %367
  %370 = fmul <8 x float> %369, %360
  %371 = call <8 x float> @llvm.minimum.v8f32(<8 x float> %370, <8 x float> %343)
  %372 = fcmp uno <8 x float> %343, %343
  %373 = select <8 x i1> %372, <8 x float> %370, <8 x float> %371
  %374 = fcmp uno <8 x float> %370, %370
  %375 = select <8 x i1> %374, <8 x float> %343, <8 x float> %373
  %376 = fadd <8 x float> %375, %361
  %377 = fsub <8 x float> %376, %375
  %378 = fadd <8 x float> %377, %362
  %379 = fmul <8 x float> %378, %376
  %380 = fsub <8 x float> %379, %363
  %381 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %380, <8 x float> %377)
  %382 = fcmp uno <8 x float> %377, %377
  %383 = select <8 x i1> %382, <8 x float> %380, <8 x float> %381
  %384 = fcmp uno <8 x float> %380, %380
  %385 = select <8 x i1> %384, <8 x float> %377, <8 x float> %383
  %386 = fmul <8 x float> %385, %364
  %387 = call <8 x float> @llvm.minimum.v8f32(<8 x float> %386, <8 x float> %378)
  %388 = fcmp uno <8 x float> %378, %378
  %389 = select <8 x i1> %388, <8 x float> %386, <8 x float> %387
  %390 = fcmp uno <8 x float> %386, %386
  %391 = select <8 x i1> %390, <8 x float> %378, <8 x float> %389
  %392 = fadd <8 x float> %391, %345
  %393 = fsub <8 x float> %392, %379
  %394 = fadd <8 x float> %393, %343
  %395 = fmul <8 x float> %394, %380
  %396 = fsub <8 x float> %395, %394
  %397 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %396, <8 x float> %385)
  %398 = fcmp uno <8 x float> %385, %385
  %399 = select <8 x i1> %398, <8 x float> %396, <8 x float> %397
  %400 = fcmp uno <8 x float> %396, %396
  %401 = select <8 x i1> %400, <8 x float> %385, <8 x float> %399
  %402 = fmul <8 x float> %401, %395
  %403 = call <8 x float> @llvm.minimum.v8f32(<8 x float> %402, <8 x float> %386)
  %404 = fcmp uno <8 x float> %386, %386
  %405 = select <8 x i1> %404, <8 x float> %402, <8 x float> %403
  %406 = fcmp uno <8 x float> %402, %402
  %407 = select <8 x i1> %406, <8 x float> %386, <8 x float> %405
  %408 = fadd <8 x float> %407, %396
  %409 = fsub <8 x float> %408, %391
  %410 = fadd <8 x float> %409, %401
  %411 = fmul <8 x float> %410, %345
  %412 = fsub <8 x float> %411, %402
  %413 = call <8 x float> @llvm.maximum.v8f32(<8 x float> %412, <8 x float> %343)
  %414 = fcmp uno <8 x float> %343, %343
  %415 = select <8 x i1> %414, <8 x float> %412, <8 x float> %413
  %416 = fcmp uno <8 x float> %412, %412
  %417 = select <8 x i1> %416, <8 x float> %343, <8 x float> %415
  %418 = fmul <8 x float> %417, %407
  %419 = call <8 x float> @llvm.minimum.v8f32(<8 x float> %418, <8 x float> %417)
  %420 = fcmp uno <8 x float> %417, %417
  %421 = select <8 x i1> %420, <8 x float> %418, <8 x float> %419
  %422 = fcmp uno <8 x float> %418, %418
  %423 = select <8 x i1> %422, <8 x float> %417, <8 x float> %421
  %424 = fadd <8 x float> %423, %408
  %425 = fsub <8 x float> %424, %418
  %426 = fcmp uno <8 x float> %425, %425
  %427 = select <8 x i1> %426, <8 x float> splat (float 0x7FF8000000000000), <8 x float> %425
  %428 = getelementptr inbounds i32, ptr %33, i64 %trip5
  call void @llvm.masked.store.v8f32.p0(<8 x float> %427, ptr align 1 %428, <8 x i1> %tail8)
  %429 = add i64 %trip5, %339
  %430 = icmp ult i64 %429, %15
  br i1 %430, label %tail4, label %done

turn:                                             ; preds = %go10, %scalar
  %431 = phi i64 [ 0, %scalar ], [ %526, %go10 ]
  %432 = icmp uge i64 %431, %6
  br i1 %432, label %trap, label %go, !prof !2

after9:                                           ; preds = %go10, %scalar
  br label %done

trapped:                                          ; preds = %trap
  %433 = phi i32 [ 3, %trap ]
  %434 = phi i32 [ 87, %trap ]
  %435 = phi i64 [ %431, %trap ]
  %436 = getelementptr inbounds i8, ptr %2, i64 56
  store i32 %434, ptr %436, align 8
  %437 = getelementptr inbounds i8, ptr %2, i64 48
  store i64 %435, ptr %437, align 8
  ret i32 %433

trap:                                             ; preds = %go, %turn
  br label %trapped

go:                                               ; preds = %turn
  %438 = getelementptr inbounds i32, ptr %4, i64 %431
  %439 = load float, ptr %438, align 1
  %440 = icmp uge i64 %431, %10
  br i1 %440, label %trap, label %go10, !prof !2

go10:                                             ; preds = %go
  %441 = getelementptr inbounds i32, ptr %8, i64 %431
  %442 = load float, ptr %441, align 1
  %443 = fadd float %442, %439
  %444 = fmul float %443, %439
  %445 = fsub float %444, %443
  %446 = call float @llvm.maximum.f32(float %445, float %439)
  %447 = fcmp uno float %439, %439
  %448 = select i1 %447, float %445, float %446
  %449 = fcmp uno float %445, %445
  %450 = select i1 %449, float %439, float %448
  %451 = fmul float %450, %442
  %452 = call float @llvm.minimum.f32(float %451, float %443)
  %453 = fcmp uno float %443, %443
  %454 = select i1 %453, float %451, float %452
  %455 = fcmp uno float %451, %451
  %456 = select i1 %455, float %443, float %454
  %457 = fadd float %456, %444
  %458 = fsub float %457, %445
  %459 = fadd float %458, %450
  %460 = fmul float %459, %451
  %461 = fsub float %460, %456
  %462 = call float @llvm.maximum.f32(float %461, float %442)
  %463 = fcmp uno float %442, %442
  %464 = select i1 %463, float %461, float %462
  %465 = fcmp uno float %461, %461
  %466 = select i1 %465, float %442, float %464
  %467 = fmul float %466, %457
  %468 = call float @llvm.minimum.f32(float %467, float %439)
  %469 = fcmp uno float %439, %439
  %470 = select i1 %469, float %467, float %468
  %471 = fcmp uno float %467, %467
  %472 = select i1 %471, float %439, float %470
  %473 = fadd float %472, %458
  %474 = fsub float %473, %472
  %475 = fadd float %474, %459
  %476 = fmul float %475, %473
  %477 = fsub float %476, %460
  %478 = call float @llvm.maximum.f32(float %477, float %474)
  %479 = fcmp uno float %474, %474
  %480 = select i1 %479, float %477, float %478
  %481 = fcmp uno float %477, %477
  %482 = select i1 %481, float %474, float %480
  %483 = fmul float %482, %461
  %484 = call float @llvm.minimum.f32(float %483, float %475)
  %485 = fcmp uno float %475, %475
  %486 = select i1 %485, float %483, float %484
  %487 = fcmp uno float %483, %483
  %488 = select i1 %487, float %475, float %486
  %489 = fadd float %488, %442
  %490 = fsub float %489, %476
  %491 = fadd float %490, %439
  %492 = fmul float %491, %477
  %493 = fsub float %492, %491
  %494 = call float @llvm.maximum.f32(float %493, float %482)
  %495 = fcmp uno float %482, %482
  %496 = select i1 %495, float %493, float %494
  %497 = fcmp uno float %493, %493
  %498 = select i1 %497, float %482, float %496
  %499 = fmul float %498, %492
  %500 = call float @llvm.minimum.f32(float %499, float %483)
  %501 = fcmp uno float %483, %483
  %502 = select i1 %501, float %499, float %500
  %503 = fcmp uno float %499, %499
  %504 = select i1 %503, float %483, float %502
  %505 = fadd float %504, %493
  %506 = fsub float %505, %488
  %507 = fadd float %506, %498
  %508 = fmul float %507, %442
  %509 = fsub float %508, %499
  %510 = call float @llvm.maximum.f32(float %509, float %439)
  %511 = fcmp uno float %439, %439
  %512 = select i1 %511, float %509, float %510
  %513 = fcmp uno float %509, %509
  %514 = select i1 %513, float %439, float %512
  %515 = fmul float %514, %504
  %516 = call float @llvm.minimum.f32(float %515, float %514)
  %517 = fcmp uno float %514, %514
  %518 = select i1 %517, float %515, float %516
  %519 = fcmp uno float %515, %515
  %520 = select i1 %519, float %514, float %518
  %521 = fadd float %520, %505
  %522 = fsub float %521, %515
  %523 = fcmp uno float %522, %522
  %524 = select i1 %523, float 0x7FF8000000000000, float %522
  %525 = getelementptr inbounds i32, ptr %12, i64 %431
  store float %524, ptr %525, align 1
  %526 = add i64 %431, 1
  %527 = icmp slt i64 %526, %14
  br i1 %527, label %turn, label %after9
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr captures(none), <16 x i1>, <16 x float>) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <16 x float> @llvm.maximum.v16f32(<16 x float>, <16 x float>) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <16 x float> @llvm.minimum.v16f32(<16 x float>, <16 x float>) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: write)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr captures(none), <16 x i1>) #3

; Function Attrs: nounwind
declare void @llvm.x86.sse.sfence() #0

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr captures(none), <8 x i1>, <8 x float>) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x float> @llvm.maximum.v8f32(<8 x float>, <8 x float>) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x float> @llvm.minimum.v8f32(<8 x float>, <8 x float>) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: write)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr captures(none), <8 x i1>) #3

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maximum.f32(float, float) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.minimum.f32(float, float) #2

attributes #0 = { nounwind }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { nocallback nofree nosync nounwind willreturn memory(argmem: write) }

!llvm.module.flags = !{!0}
!frazil.loops = !{!1}

!0 = !{i32 8, !"PIC Level", i32 1}
!1 = !{!"@chain line 6, parallel: 16 iterations at a time, the rest under masks"}
!2 = !{!"branch_weights", i32 1, i32 1048576}
!3 = !{i32 1}
