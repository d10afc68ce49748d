-- Version 5: the file that a call was about, by its SHA-256.
ALTER TABLE behaview.call ADD file text NOT NULL DEFAULT '' CHECK (length(file) <= 64);
GRANT INSERT (file) ON behaview.call TO behaview_analyst;
INSERT INTO behaview.version (version, oldest_client) VALUES (5, 1);
