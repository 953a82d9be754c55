"""The error function, its complement and its inverse."""

import numpy as np

from .exponential import exp_parts, scaled
from .logarithm import log
from .pairs import exact_product, exact_sum, fast_sum, product, quotient, rounded, square_root
from .terms import Term, copysign, fma, polynomial, where

ERF = (
    0.1283791670955126,
    -0.3761263890318374,
    0.11283791670954353,
    -0.026866170644942594,
    0.005223977623059443,
    -0.0008548326845690305,
    0.00012055324561705379,
    -1.4925387201697966e-05,
    1.645660759738808e-06,
    -1.6289242608283753e-07,
    1.4122777660355889e-08,
    -8.666276629199441e-10,
)
"""erf x = x + x ERF(x^2) for |x| < 7/8."""

ERFC_AT_4 = (1.2329951186255526, -4.625318921008717e-17)
"""e^16 9 erfc 4 as a sum of two floats."""

ERFC = (
    -0.1396211168405625,
    0.015379652102620513,
    0.06809705425468626,
    -0.10103906603638459,
    0.09373283499875515,
    -0.06633036580946262,
    0.03716751552710119,
    -0.016197734102127673,
    0.005031970115812887,
    -0.0007577728988179947,
    -0.000199257760911366,
    0.00015061966654733274,
    -2.4394129476102546e-05,
    -1.1215846182047156e-05,
    5.6945321928364715e-06,
    2.8285283956383595e-07,
    -7.975267839899269e-07,
    8.428360521860153e-08,
    8.090955842499781e-08,
    -1.9760044408150684e-08,
)
"""e^(x^2) (1 + 2 x) erfc x = ERFC_AT_4 + t ERFC(t) with t = (x - 4) / (x + 4), for x > 3/4."""

MIDDLE_AT = 2.75
TAIL_AT = 4.5

CENTRAL = (
    0.011226925452758016,
    -0.01798633346534585,
    0.011549342038282952,
    -0.0023351016417803745,
    -0.00012804329300060297,
    4.6611434704668744e-05,
    2.020005996279249e-06,
    -1.0125906984712813e-06,
    -3.7239123704359045e-08,
    2.2728801555552804e-08,
    8.109292452274607e-10,
    -5.617554767711582e-10,
    2.4944273018797974e-12,
    5.425191775360932e-12,
    2.042123104531822e-12,
    -4.799089251377258e-13,
    -4.903939444862705e-14,
    3.173360433390641e-14,
    -5.5398430759246846e-15,
    5.149268357694618e-16,
    -2.6141630785180195e-17,
    5.767921293234646e-19,
)
MIDDLE = (
    -0.16670619154170144,
    -0.0049143097585206295,
    0.017953959851194537,
    -0.016017298396996445,
    0.011501660639623072,
    -0.005623246678326119,
    0.0009567610629837907,
    0.0009185024787643633,
    -0.0007694571558178044,
    0.0001570877000737637,
    0.00012014105507566381,
    -9.549589883913388e-05,
    1.4486351443710344e-05,
    1.60879797503337e-05,
    -1.053414441303253e-05,
    1.0047064782980426e-06,
    1.9529993582744816e-06,
    -1.0878405542500995e-06,
    2.8237925559554118e-08,
    2.0567329984296173e-07,
    -7.018251784981382e-08,
)
TAIL = (
    -0.15524618778557853,
    0.010232788672242662,
    0.0003274424635651071,
    -0.0004302436484764524,
    0.0001479411247291288,
    -4.101968864417433e-05,
    1.1094846112398706e-05,
    -3.600534839881527e-06,
    1.6400903212188963e-06,
    -9.093372541800543e-07,
    4.880646446096183e-07,
    -2.232493383671655e-07,
    7.925649331345244e-08,
    -1.7532586741892438e-08,
    -1.0270142735326747e-09,
    3.1655338713807646e-09,
    -1.6528413350508037e-09,
    4.719240754796742e-10,
    -3.537964878119261e-11,
    -3.5200602788763066e-11,
    1.767849519943001e-11,
    -3.839779886133156e-12,
    3.435972155738587e-13,
)


def _erfc(x: Term) -> Term:
    """For 3/4 < x < 28."""
    t = quotient(exact_sum(x, -4.0), exact_sum(x, 4.0))
    rest = fma(t.high, polynomial(t.high, ERFC), ERFC_AT_4[1])
    factor = fast_sum(ERFC_AT_4[0], rest)
    square = exact_product(x, x)
    shifted, power = exp_parts(-square)
    over = exact_sum(2.0 * x, 1.0)
    return scaled(rounded(quotient(product(power, factor), over)), shifted)


def _clipped(x: Term) -> Term:
    """The size, where the complement is neither too near one nor zero."""
    y = abs(x)
    return where(y < 3 / 4, 3 / 4, where(y > 28.0, 28.0, y))


def erf(x: Term) -> Term:
    near = fma(x, polynomial(x * x, ERF, 2), x)
    return where(abs(x) < 7 / 8, near, copysign(1.0 - _erfc(_clipped(x)), x))


def erfc(x: Term) -> Term:
    one = fast_sum(1.0, -x)
    far = _erfc(_clipped(x))
    far = where(x < 0.0, 2.0 - far, far)
    return where(abs(x) < 3 / 4, one.high + fma(-x, polynomial(x * x, ERF, 2), one.low), far)


def erf_inv(x: Term) -> Term:
    """x times a function of w = -log(1 - x^2), which grows as the root of w."""
    y = abs(x)
    w = -log(where(y < 0.5, fma(-y, y, 1.0), (1.0 - y) * (1.0 + y)))
    s = square_root(w)
    line = exact_sum(0.25 * w, 0.875)
    far, very_far = w > 4.5, w > 12.0
    rest = where(very_far, polynomial(s.high - TAIL_AT, TAIL), polynomial(s.high - MIDDLE_AT, MIDDLE))
    rest = where(far, rest + s.low, polynomial(w, CENTRAL) + line.low)
    ratio = fast_sum(where(far, s.high, line.high), rest)
    value = fma(y, ratio.high, y * ratio.low)
    return copysign(where(y.equals(1.0), np.inf, value), x)
