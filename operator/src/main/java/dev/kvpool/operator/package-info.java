// SPDX-License-Identifier: Apache-2.0
/** The program: what it is made of, and its settings. */
package dev.kvpool.operator;
