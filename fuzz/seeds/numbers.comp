#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int i[8]; float f[8]; double d[2]; } data;
layout(constant_id = 4) const int shift = 5;
void main() {
    int a = data.i[0] / data.i[1] + data.i[2] % data.i[3] << shift;
    float x = pow(abs(data.f[0]), 2.5) / sqrt(data.f[1]) + inversesqrt(data.f[2]) + exp2(data.f[3]) - log(data.f[4]);
    int e;
    x += frexp(data.f[5], e) + ldexp(x, a & 7) + modf(x, data.f[6]) + atan(x, data.f[7]) + mod(x, 3.0);
    data.d[0] = data.d[1] * double(x) + fma(data.d[0], 2.0LF, 1.0LF);
    data.i[4] = findMSB(a) + bitCount(e) + bitfieldReverse(a) + floatBitsToInt(x);
    data.f[0] = isnan(x) ? float(a) : trunc(x) + sign(x) * roundEven(x);
}
