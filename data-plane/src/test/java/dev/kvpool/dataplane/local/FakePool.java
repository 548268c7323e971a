// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.cli.StopSignal;
import dev.kvpool.dataplane.config.CacheSettings;
import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.http.AdminServer;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.node.NodeSettings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A main class with the real {@code local} and with masters and nodes that only pretend, so that looking after processes
 * can be tested without a pool. Master 0 leads and counts a node as ready once it has left the file {@code up} in its
 * directory, beside the Lease. A node whose directory holds the file {@code fail-at-start} fails instead.
 */
public final class FakePool {
    private static final Format<String> TEXT = new Format<>("TEXT", "a text", text -> text);

    private FakePool() {}

    public static void main(String[] arguments) {
        StopSignal stop = new StopSignal().onTermination();
        Console console = new Console(System.in, System.out, System.err, stop);
        List<Command> commands = List.of(new LocalCommand(FakePool.class), new FakeMaster(), new FakeNode());
        int code = new CommandRunner(commands, System.getenv(), console).run(arguments);
        stop.finished(code);
        System.exit(code);
    }

    private static final class FakeMaster implements Command {
        private static final Setting<String> NAME = Setting.required("name", Formats.NAME_TEXT, "");
        private static final Setting<List<String>> EXPECTED_NODES =
                Setting.required("expected-nodes", Formats.NAMES, "");
        private static final Setting<String> LEASE = Setting.required("lease", TEXT, "");
        private static final Setting<String> CACHE_RULES_FILE = Setting.required("cache-rules-file", TEXT, "");
        private static final Setting<Boolean> CHANGE_CACHE_RULES =
                Setting.required("change-cache-rules", Formats.SWITCH, "");

        @Override
        public String name() {
            return "master";
        }

        @Override
        public String summary() {
            return "Pretends to be a master.";
        }

        @Override
        public List<Setting<?>> settings() {
            List<Setting<?>> settings = new ArrayList<>(CacheSettings.ALL);
            settings.addAll(List.of(NAME, EXPECTED_NODES, LEASE, CACHE_RULES_FILE, CHANGE_CACHE_RULES));
            settings.addAll(
                    List.of(NodeSettings.POOL_ID, NodeSettings.HOST, NodeSettings.PORT, NodeSettings.ADMIN_PORT));
            return settings;
        }

        @Override
        public int run(Settings settings, Console console) throws FailureException, InterruptedException {
            String role = settings.get(NAME).equals("master-0") ? "leader" : "standby";
            Path directory = Path.of(URI.create(settings.get(LEASE))).getParent();
            List<String> nodes = settings.get(EXPECTED_NODES);
            List<Route> routes = List.of(
                    Route.get("/role", request -> Response.text(200, role)),
                    Route.get("/api/v1/pool", request -> Response.json(200, pool(directory, nodes))));
            try (AdminServer admin =
                    AdminServer.start(settings.get(NodeSettings.HOST), settings.get(NodeSettings.ADMIN_PORT), routes)) {
                console.err().println("admin on " + admin.port());
                console.stop().await();
            } catch (IOException e) {
                throw new FailureException(e.getMessage(), e);
            }
            return ExitCode.OK;
        }

        private static String pool(Path directory, List<String> nodes) {
            long up = nodes.stream()
                    .filter(node -> Files.exists(directory.resolve(node).resolve("up")))
                    .count();
            return "{\"name\":\"master-0\",\"state\":\"serving\",\"readyNodes\":" + up + "}";
        }
    }

    private static final class FakeNode implements Command {
        @Override
        public String name() {
            return "node";
        }

        @Override
        public String summary() {
            return "Pretends to be a storage node.";
        }

        @Override
        public List<Setting<?>> settings() {
            return NodeSettings.ALL;
        }

        @Override
        public int run(Settings settings, Console console) throws FailureException, InterruptedException {
            Path directory = settings.get(NodeSettings.DATA_DIR);
            if (Files.exists(directory.resolve("fail-at-start"))) {
                throw new FailureException("the segment is on fire");
            }
            try {
                Files.write(directory.resolve("up"), new byte[0]);
            } catch (IOException e) {
                throw new FailureException(e.getMessage(), e);
            }
            console.stop().await();
            return ExitCode.OK;
        }
    }
}
