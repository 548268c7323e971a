// SPDX-License-Identifier: Apache-2.0
/** The cluster a command is about: who is asked and how, the options that name it, and what its refusals mean. It knows no command. */
package dev.kvpool.operator.plugin.cluster;
