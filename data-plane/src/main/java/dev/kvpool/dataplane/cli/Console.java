// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import java.io.InputStream;
import java.io.PrintStream;

/**
 * Where a command talks to its user, and hears that it should stop.
 *
 * @param in standard input
 * @param out results, which scripts read
 * @param err everything else
 * @param stop the wish that the command ends
 */
public record Console(InputStream in, PrintStream out, PrintStream err, StopSignal stop) {}
