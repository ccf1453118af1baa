-- Everything here belongs to the owner; a file that acts as another role returns to this one at its end.
set local role engram_owner;
