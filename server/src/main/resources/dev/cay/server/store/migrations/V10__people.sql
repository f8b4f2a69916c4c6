-- People who sign in. One whom the operator removed stays, so that their domain does not bring them back.
CREATE TABLE person (
    id         TEXT PRIMARY KEY,
    email      TEXT NOT NULL UNIQUE,
    account    TEXT,
    created_at BIGINT NOT NULL,
    removed_at BIGINT
);

-- What a person may do in a team.
CREATE TABLE member (
    person_id  TEXT NOT NULL REFERENCES person (id),
    team_id    TEXT NOT NULL REFERENCES team (id),
    scope      TEXT NOT NULL,
    added_at   BIGINT NOT NULL,
    removed_at BIGINT,
    PRIMARY KEY (person_id, team_id)
);

-- Links that sign in one browser, once.
CREATE TABLE sign_in_link (
    hash       TEXT PRIMARY KEY,
    person_id  TEXT NOT NULL REFERENCES person (id),
    expires_at BIGINT NOT NULL
);

-- A browser or a program that a person has signed in with.
CREATE TABLE sign_in (
    id         TEXT PRIMARY KEY,
    person_id  TEXT NOT NULL REFERENCES person (id),
    kind       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX sign_in_person ON sign_in (person_id);

-- What proves a sign-in: the cookie of a browser, and each refresh token that a program had.
CREATE TABLE sign_in_secret (
    hash       TEXT PRIMARY KEY,
    sign_in_id TEXT NOT NULL REFERENCES sign_in (id),
    created_at BIGINT NOT NULL,
    used_at    BIGINT
);

CREATE INDEX sign_in_secret_owner ON sign_in_secret (sign_in_id);

-- Who made a key, and the sign-in that it was minted for.
ALTER TABLE api_key ADD COLUMN person_id TEXT;
ALTER TABLE api_key ADD COLUMN sign_in_id TEXT;
