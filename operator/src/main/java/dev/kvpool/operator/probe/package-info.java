// SPDX-License-Identifier: Apache-2.0
/** Asks a running operator from outside how it is: for the chart's test and for the rehearsal of the image's build. */
package dev.kvpool.operator.probe;
