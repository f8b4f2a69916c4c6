/// `cay doctor`: what this host lacks, and the command that fixes it. Each {@link dev.cay.cli.doctor.Check} checks one
/// subject and changes nothing; {@link dev.cay.cli.doctor.DoctorCommand} lists them. A check of a host feature that
/// another package knows (say, foreign firewalls) is added here.
@NullMarked
package dev.cay.cli.doctor;

import org.jspecify.annotations.NullMarked;
