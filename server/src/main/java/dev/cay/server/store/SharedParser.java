package dev.cay.server.store;

import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.ColonPrefixSqlParser;
import org.jdbi.v3.core.statement.SqlParser;
import org.jdbi.v3.core.statement.SqlStatements;

/// One SQL parser for all connections. It caches what it has parsed, and to parse a statement takes longer than to run
/// it.
public final class SharedParser {
    private static final SqlParser PARSER = new ColonPrefixSqlParser();

    private SharedParser() {}

    /// @return the same object
    public static Jdbi setOn(Jdbi jdbi) {
        jdbi.getConfig(SqlStatements.class).setSqlParser(PARSER);
        return jdbi;
    }
}
