"""Learned joint forces as C code: the program that `hybridsim.native` makes, behind a function with plain arguments."""

from collections.abc import Callable
from string import Template

import numpy as np

from ..escape import in_c

_HEADER = Template("""\
/* Joint forces that were learned from measured motion, to be added to those of the plain model. Written by HybridSim.

   Arrays have one number for each of these joints, in this order (other characters than letters, digits, "_", "." and "-"
   are octal, as in C strings):
$order */

#ifndef AUGMENTATION_H
#define AUGMENTATION_H

#define AUGMENTATION_JOINTS $count

/* A command acts so much later than it is given [s]: give `augmentation` the command of that time ago. */
#define AUGMENTATION_DELAY $delay

#ifdef __cplusplus
extern "C" {
#endif

/* Names of the joints, in the order of all arrays. */
extern const char *const augmentation_joints[AUGMENTATION_JOINTS];

/* q: positions [rad or m]; qd: velocities [rad/s or m/s]; command: joint forces of the motors [N m or N].
   force: what to add to the joint forces [N m or N]. Allocates nothing, keeps nothing, and may run in several threads. */
void augmentation(const double *q, const double *qd, const double *command, double *force);

#ifdef __cplusplus
}
#endif

#endif
""")

_SOURCE = Template("""\
/* Written by HybridSim; augmentation.h says what it is. Compile: cc -std=c99 -O2 -ffp-contract=off -c augmentation.c
   An option for your processor, such as -march=native, makes each fma one instruction: several times faster. */

#include "augmentation.h"

/* Not every input need be used, nor every small function; and a name may be long. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

$kernel
const char *const augmentation_joints[AUGMENTATION_JOINTS] = {$names};

void augmentation(const double *q, const double *qd, const double *command, double *force) {
  const void *const in[3] = {q, qd, command};
  void *const out[1] = {force};
  double workspace[(AUGMENTATION_KERNEL_WORKSPACE + 7) / 8];
  augmentation_kernel(in, out, workspace);
}
""")


def c_files(function: Callable, joints: tuple[str, ...], delay: float) -> tuple[str, str]:
    """Text of augmentation.c and augmentation.h for force = function(q, qd, command)."""
    from ..native import jit

    zeros = np.zeros(len(joints))
    kernel = jit(function).lower(zeros, zeros, zeros).c_source("augmentation_kernel")
    kernel = kernel.replace("\nvoid augmentation_kernel(", "\nstatic void augmentation_kernel(")
    names = [in_c(joint) for joint in joints]
    order = "\n".join(f"     {i}  {name}" for i, name in enumerate(names))
    header = _HEADER.substitute(order=order, count=len(joints), delay=repr(float(delay)))
    source = _SOURCE.substitute(kernel=kernel, names=", ".join(f'"{name}"' for name in names))
    return source, header
