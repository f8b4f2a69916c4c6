/// Reads a Dockerfile, its `.dockerignore` and its build context, and makes a plan of them. Nothing is executed here.
///
/// Start at {@link dev.cay.dockerfile.Dockerfile}, the parsed file. {@link dev.cay.dockerfile.StageGraph} selects the
/// stages that a target needs, {@link dev.cay.dockerfile.Evaluation} expands the variables of one stage, and
/// {@link dev.cay.dockerfile.BuildContext} selects the files of one COPY or ADD. Every error is a
/// {@link dev.cay.dockerfile.DockerfileException} with file, line and column. All input is hostile: sizes, counts and
/// the work of expansions are limited.
///
/// Sandboxes, layers and registries must not be known here.
@NullMarked
package dev.cay.dockerfile;

import org.jspecify.annotations.NullMarked;
