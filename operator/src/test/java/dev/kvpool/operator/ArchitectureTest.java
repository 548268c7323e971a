// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.kvpool.operator.pool.plan.PlannedChildren;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The module rules of the design, and what keeps planning apart from doing. */
@AnalyzeClasses(packages = "dev.kvpool", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String OPERATOR = "dev.kvpool.operator..";
    private static final String POOL = "dev.kvpool.operator.pool";

    /** Classes that look at the world or change it. All others decide, and decide only. */
    private static final Set<String> DOERS = Set.of(
            "HealthCheck",
            "KvpoolOperator",
            "Rehearsal",
            "EchoingApi",
            "ThrowawayKey",
            "OperatorBeans",
            "OperatorConfig",
            "HttpMasterClient",
            "MasterTrust",
            "PoolTokens",
            "ServiceAccountTokens",
            "MasterPaths",
            "EventRecorder",
            "CountersFromZero",
            "ReconciliationWatch",
            "LostWatchCheck",
            "StuckReconcilerCheck",
            "SharedFields",
            "ShortPods",
            "GonePoolReconciler",
            "TransferEngineReconciler");

    /** The plugin's commands, and what they reach the cluster with. */
    private static final Set<String> PLUGIN_DOERS = Set.of(
            "KubectlKvpool",
            "PoolCommand",
            "StatusCommand",
            "PlanCommand",
            "DrainCommand",
            "ForgetCommand",
            "FailoverCommand",
            "RestartCommand",
            "RetryCommand",
            "RotateCaCommand",
            "WhyCommand",
            "PauseCommand",
            "ResumeCommand",
            "ReportCommand",
            "ClientConfigCommand",
            "OutputOptions",
            "Cluster",
            "PodProxyMasters",
            "EndingHttpClients",
            "Pausing",
            "DryRun",
            "SpecFile",
            "Bundle",
            "Completion",
            "Rehearsal",
            "PretendedApi");

    /** The rooms of a pool's reconciliation, in the one direction: each may use those before it. */
    private static final List<String> ROOMS = List.of(
            "naming",
            "ascend",
            "sizing",
            "security",
            "blueprint",
            "child.certificate",
            "child.part",
            "child",
            "observation",
            "storage",
            "validate",
            "member",
            "transition",
            "roll",
            "plan",
            "report",
            "cluster",
            "gone");

    private static final DescribedPredicate<JavaClass> DECIDES = DescribedPredicate.describe(
            "decide only",
            type -> type.getPackageName().startsWith("dev.kvpool.operator")
                    && !type.getPackageName().equals(POOL)
                    && !type.getPackageName().equals(POOL + ".cluster")
                    && !DOERS.contains(outer(type))
                    && !PLUGIN_DOERS.contains(outer(type)));

    @ArchTest
    static final ArchRule decisionsUseNoClockNoInputNoOutputNoLog = noClasses()
            .that(DECIDES)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "java.io..",
                    "java.nio.channels..",
                    "java.nio.file..",
                    "java.net..",
                    "java.util.concurrent..",
                    "java.util.logging..",
                    "org.jboss.logging..",
                    "org.slf4j..",
                    "io.javaoperatorsdk..",
                    "io.fabric8.kubernetes.client.dsl..",
                    "io.fabric8.kubernetes.client.http..",
                    "io.fabric8.kubernetes.client.informers..",
                    "io.quarkus..",
                    "jakarta..")
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(io.fabric8.kubernetes.client.Client.class)
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(java.time.Instant.class, "now")
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(java.util.Random.class);

    @ArchTest
    static void roomsOfAPoolUseThoseBeforeThemOnly(JavaClasses classes) {
        roomsInOrder(POOL, ROOMS, classes);
    }

    @ArchTest
    static final ArchRule theDataPlaneIsReachedByHttpOnly = noClasses()
            .that()
            .resideInAPackage(OPERATOR)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.kvpool.dataplane..", "dev.kvpool.nativelib..", "dev.kvpool.wire..", "com.sun.jna..");

    @ArchTest
    static final ArchRule theApiKnowsNobody = noClasses()
            .that()
            .resideInAPackage("dev.kvpool.api..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(OPERATOR, "io.quarkus..", "io.javaoperatorsdk..");

    @ArchTest
    static final ArchRule roomsOfTheApiKnowNoKind = noClasses()
            .that()
            .resideInAPackage("dev.kvpool.api.v1alpha1.*")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.kvpool.api.v1alpha1");

    @ArchTest
    static final ArchRule roomsOfTheApiDependOneWay =
            slices().matching("dev.kvpool.api.v1alpha1.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule httpIsBehindTheMasterClient = noClasses()
            .that()
            .resideInAPackage(OPERATOR)
            .and()
            .doNotHaveSimpleName("HttpMasterClient")
            .and()
            .doNotHaveSimpleName("HealthCheck")
            .and()
            .haveNameNotMatching(".*[.]EndingHttpClients([$].*)?")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("java.net.http");

    /** It costs more than all else of a look at a pool, and most looks find that there is nothing to make. */
    @ArchTest
    static final ArchRule childrenAreMadeOnlyWhereTheyAreFoundToDiffer =
            noClasses().that().doNotHaveSimpleName("ChildApplier").should().callMethod(PlannedChildren.class, "make");

    @ArchTest
    static final ArchRule nothingHasANameThatSaysNothing = noClasses()
            .should()
            .haveNameMatching("(?i).*(util|utils|common|helper|helpers|manager)(\\$.*)?$")
            .orShould()
            .resideInAnyPackage("..util..", "..utils..", "..common..", "..helper..", "..manager..");

    /** Rooms of the plugin, in the one direction. */
    private static final List<String> PLUGIN_ROOMS =
            List.of("output", "cluster", "status", "plan", "why", "act", "report", "client", "complete");

    @ArchTest
    static void roomsOfThePluginUseThoseBeforeThemOnly(JavaClasses classes) {
        roomsInOrder("dev.kvpool.operator.plugin", PLUGIN_ROOMS, classes);
    }

    private static void roomsInOrder(String house, List<String> rooms, JavaClasses classes) {
        for (int room = 0; room < rooms.size(); room++) {
            String[] later = Stream.concat(
                            rooms.stream().skip(room + 1).map(name -> house + "." + name), Stream.of(house))
                    .toArray(String[]::new);
            noClasses()
                    .that()
                    .resideInAPackage(house + "." + rooms.get(room))
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(later)
                    .check(classes);
        }
    }

    private static String outer(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outer).orElse(type.getSimpleName());
    }
}
