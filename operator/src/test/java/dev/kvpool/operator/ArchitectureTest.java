// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.elements.GivenClassesConjunction;
import dev.kvpool.operator.pool.plan.PlannedChildren;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The module rules of the design, and what keeps planning apart from doing. */
@AnalyzeClasses(packages = "dev.kvpool", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final String OPERATOR = "dev.kvpool.operator";
    private static final String ALL_OF_THE_OPERATOR = OPERATOR + "..";
    private static final int CLASSES_OF_A_PACKAGE_MAX = 25;
    private static final int PARTS_MAX = 9;

    /** The rooms of each house in the one direction: each may use those before it. A dot is the house itself, without its rooms. */
    private static final Map<String, List<String>> ROOMS = Map.of(
            OPERATOR,
            List.of(
                    "duration",
                    "status",
                    "event",
                    "master",
                    "pool",
                    "engine",
                    "memory",
                    "health",
                    "probe",
                    "prepare",
                    "plugin",
                    "."),
            OPERATOR + ".event",
            List.of(".", "recorder"),
            OPERATOR + ".master",
            List.of(".", "http"),
            OPERATOR + ".engine",
            List.of("status", "."),
            OPERATOR + ".pool",
            List.of(
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
                    "gone",
                    "cluster",
                    "."),
            OPERATOR + ".plugin",
            List.of(
                    "output",
                    "failure",
                    "observation",
                    "status",
                    "plan",
                    "why",
                    "forget",
                    "client",
                    "report",
                    "http",
                    "cluster",
                    "command",
                    ".",
                    "rehearsal"));

    /** Packages that look at the world or change it. All others decide, and decide only: what they decide on is handed to them. */
    private static final Set<String> DOERS = Set.of(
            OPERATOR,
            OPERATOR + ".engine",
            OPERATOR + ".event.recorder",
            OPERATOR + ".health",
            OPERATOR + ".master.http",
            OPERATOR + ".memory",
            OPERATOR + ".plugin",
            OPERATOR + ".plugin.cluster",
            OPERATOR + ".plugin.command",
            OPERATOR + ".plugin.http",
            OPERATOR + ".plugin.rehearsal",
            OPERATOR + ".pool",
            OPERATOR + ".pool.cluster",
            OPERATOR + ".prepare",
            OPERATOR + ".probe");

    @ArchTest
    static void decisionsUseNoClockNoInputNoOutputNoLog(JavaClasses classes) {
        decidesOnly(deciders()).check(classes);
    }

    @ArchTest
    static final ArchRule decisionsUseNothingThatDoes =
            deciders().should().dependOnClassesThat().resideInAnyPackage(DOERS.toArray(String[]::new));

    /** So that a package which has become one of decisions is held to it. */
    @ArchTest
    static void whatMayDoDoes(JavaClasses classes) {
        assertThat(DOERS)
                .allSatisfy(name -> assertThat(decidesOnly(noClasses().that().resideInAPackage(name))
                                .evaluate(classes)
                                .hasViolation())
                        .as("%s looks at the world or changes it", name)
                        .isTrue());
    }

    @ArchTest
    static void roomsUseThoseBeforeThemOnly(JavaClasses classes) {
        ROOMS.forEach((house, rooms) -> {
            for (int room = 0; room < rooms.size() - 1; room++) {
                String[] later = rooms.stream()
                        .skip(room + 1)
                        .map(name -> packageOf(house, name))
                        .toArray(String[]::new);
                noClasses()
                        .that()
                        .resideInAPackage(packageOf(house, rooms.get(room)))
                        .should()
                        .dependOnClassesThat()
                        .resideInAnyPackage(later)
                        .check(classes);
            }
        });
    }

    @ArchTest
    static void eachRoomHasItsPlace(JavaClasses classes) {
        Set<String> placed = new TreeSet<>();
        ROOMS.forEach((house, rooms) -> rooms.stream()
                .map(room -> room.equals(".") ? house : house + "." + room)
                .forEach(placed::add));
        assertThat(packages(classes).keySet()).isEqualTo(placed);
    }

    @ArchTest
    static void aPackageHoldsOneIdea(JavaClasses classes) {
        assertThat(packages(classes))
                .allSatisfy((name, count) ->
                        assertThat(count).as("classes of %s", name).isLessThanOrEqualTo(CLASSES_OF_A_PACKAGE_MAX));
    }

    /** What has more is missing an idea: parts that belong together and have a name. Resources of the API have the fields that users see. */
    @ArchTest
    static void nothingIsMadeOfManyParts(JavaClasses classes) {
        assertThat(classes.that(JavaClass.Predicates.resideInAPackage(ALL_OF_THE_OPERATOR)).stream()
                        .flatMap(it -> it.getConstructors().stream())
                        .filter(made -> made.getRawParameterTypes().size() > PARTS_MAX)
                        .map(made -> made.getFullName()))
                .isEmpty();
    }

    @ArchTest
    static final ArchRule theDataPlaneIsReachedByHttpOnly = noClasses()
            .that()
            .resideInAPackage(ALL_OF_THE_OPERATOR)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.kvpool.dataplane..", "dev.kvpool.nativelib..", "dev.kvpool.wire..", "com.sun.jna..");

    @ArchTest
    static final ArchRule theApiKnowsNeitherOperatorNorFramework = noClasses()
            .that()
            .resideInAPackage("dev.kvpool.api..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ALL_OF_THE_OPERATOR, "io.quarkus..", "io.javaoperatorsdk..");

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
    static final ArchRule httpIsBehindTheRoomsForIt = noClasses()
            .that()
            .resideInAPackage(ALL_OF_THE_OPERATOR)
            .and()
            .resideOutsideOfPackages(OPERATOR + ".master.http", OPERATOR + ".plugin.http", OPERATOR + ".probe")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("java.net.http");

    /** By name: it costs more than all else of a look at a pool, and this one class knows which of them differ. */
    @ArchTest
    static final ArchRule childrenAreMadeOnlyWhereTheyAreFoundToDiffer =
            noClasses().that().doNotHaveSimpleName("ChildApplier").should().callMethod(PlannedChildren.class, "make");

    @ArchTest
    static final ArchRule nothingHasANameThatSaysNothing = noClasses()
            .should()
            .haveNameMatching("(?i).*(util|utils|common|helper|helpers|manager)(\\$.*)?$")
            .orShould()
            .resideInAnyPackage("..util..", "..utils..", "..common..", "..helper..", "..manager..");

    private static GivenClassesConjunction deciders() {
        return noClasses()
                .that()
                .resideInAPackage(ALL_OF_THE_OPERATOR)
                .and()
                .resideOutsideOfPackages(DOERS.toArray(String[]::new));
    }

    private static ArchRule decidesOnly(GivenClassesConjunction those) {
        return those.should()
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
                .dependOnClassesThat()
                .areAssignableTo(InstantSource.class)
                // Called, or referred to as a method.
                .orShould()
                .accessTargetWhere(ofClock(System.class, "currentTimeMillis"))
                .orShould()
                .accessTargetWhere(ofClock(System.class, "nanoTime"))
                .orShould()
                .accessTargetWhere(ofClock(Instant.class, "now"))
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(java.util.Random.class);
    }

    private static DescribedPredicate<JavaAccess<?>> ofClock(Class<?> owner, String method) {
        return JavaAccess.Predicates.targetOwner(JavaClass.Predicates.equivalentTo(owner))
                .and(JavaAccess.Predicates.target(HasName.Predicates.name(method)));
    }

    /** Of the operator's own rooms with all rooms in them: those have an order of their own. */
    private static String packageOf(String house, String room) {
        return room.equals(".") ? house : house + "." + room + (house.equals(OPERATOR) ? ".." : "");
    }

    /** The operator's packages, and how many classes each has. */
    private static Map<String, Long> packages(JavaClasses classes) {
        return classes.stream()
                .filter(type -> type.isTopLevelClass()
                        && type.getPackageName().startsWith(OPERATOR)
                        && !type.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, TreeMap::new, Collectors.counting()));
    }
}
