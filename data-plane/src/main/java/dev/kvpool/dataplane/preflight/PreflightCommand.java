// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.preflight;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.enrol.ClientSettings;
import dev.kvpool.dataplane.http.AdminAnswer;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.dataplane.version.Versions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** {@code kvpool preflight}: whether a running pool can go over to this build. To be run with the new image. */
public final class PreflightCommand implements Command {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(10);
    private static final ObjectMapper JSON = new ObjectMapper();

    static final Setting<List<HostPort>> ADMINS = Setting.required(
            "admins",
            HostPort.LIST,
            "Admin addresses of all masters of the pool, with --tls-dir or --token-file those of --secure-admin-port.");

    static final Setting<Boolean> IGNORE_CLIENTS = Setting.onOff(
            "ignore-clients", "Do not refuse because of connected clients that do not support this version.");

    static final Setting<Path> RESULT_FILE = Setting.optional(
            "result-file", Formats.FILE, "File that the result is also written to, such as a termination log.");

    private static final Rule TOKEN_NEEDS_ROOTS = new Rule(
            List.of(ClientSettings.TOKEN, ClientSettings.ROOTS, TlsSettings.DIRECTORY),
            values -> values.find(ClientSettings.TOKEN).isPresent()
                            == values.find(ClientSettings.ROOTS).isPresent()
                    && (values.find(ClientSettings.TOKEN).isEmpty()
                            || values.find(TlsSettings.DIRECTORY).isEmpty()),
            "give --token-file and --roots together, and neither with --tls-dir: masters take a certificate or a token");

    @Override
    public String name() {
        return "preflight";
    }

    @Override
    public String summary() {
        return "Tells whether a running pool can be upgraded to this version: rolling-warm, rolling-drained or refused.";
    }

    @Override
    public List<Setting<?>> settings() {
        return List.of(
                ADMINS,
                IGNORE_CLIENTS,
                RESULT_FILE,
                TlsSettings.DIRECTORY,
                TlsSettings.MODE,
                ClientSettings.TOKEN,
                ClientSettings.ROOTS);
    }

    @Override
    public List<Rule> rules() {
        return Stream.concat(TlsSettings.RULES.stream(), Stream.of(TOKEN_NEEDS_ROOTS))
                .toList();
    }

    @Override
    public int run(Settings settings, Console console) throws FailureException {
        return run(Versions.ofThisBuild(), settings, console);
    }

    int run(Versions ours, Settings settings, Console console) throws FailureException {
        Running pool = ask(caller(settings), settings.get(ADMINS));
        Verdict verdict = Preflight.judge(ours, pool, settings.get(IGNORE_CLIENTS));
        String answer = JSON.createObjectNode()
                .put("verdict", verdict.way().text())
                .put("reason", verdict.reason())
                .put("product", ours.product())
                .toString();
        console.out().println(answer);
        if (settings.find(RESULT_FILE).isPresent()) {
            write(settings.find(RESULT_FILE).get(), answer);
        }
        return ExitCode.OK;
    }

    /** Every master must answer: one that does not may know nodes and clients that nobody else knows. */
    private static Running ask(AdminCaller caller, List<HostPort> admins) throws FailureException {
        PoolDocuments documents = new PoolDocuments();
        for (HostPort admin : admins) {
            documents.add(admin.toString(), get(caller, admin));
        }
        return documents.running();
    }

    private static AdminCaller caller(Settings settings) throws FailureException {
        try {
            if (settings.find(ClientSettings.TOKEN).isPresent()) {
                return ClientSettings.caller(settings);
            }
            return AdminCaller.of(TlsSettings.place(settings));
        } catch (IOException e) {
            throw new FailureException(e.getMessage(), e);
        }
    }

    private static String get(AdminCaller caller, HostPort admin) throws FailureException {
        try {
            AdminAnswer answer = caller.get(admin, "/api/v1/pool", CONNECT_TIMEOUT, ANSWER_TIMEOUT);
            if (!answer.isOk()) {
                throw new FailureException("master at " + admin + " answered with HTTP status " + answer.status());
            }
            return answer.body();
        } catch (IOException e) {
            throw new FailureException("master at " + admin + " did not answer: " + e.getMessage());
        }
    }

    private static void write(Path file, String answer) throws FailureException {
        try {
            Files.writeString(file, answer);
        } catch (IOException e) {
            throw new FailureException("the answer could not be written to " + file + ": " + e.getMessage());
        }
    }
}
